"""A loop over arrays that is tried as one entry, as text of NumPy."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.trials import Trials
from mooncake_py.runtime.active import Active
from mooncake_py.syntax.trees import walk
from mooncake_py.tangents.fields import instance_dict

if TYPE_CHECKING:
    from mooncake_py.compiler.native.loop_site import PrintedLoopSite
    from mooncake_py.compiler.native.reading.loop_names import Loop
    from mooncake_py.runtime.mode import Mode

__all__ = ["PrintedLoop", "may_be_one"]

FEWEST = 24
"""Statements, in all passes, from which on the way in and out costs less than it saves."""
LOOPS = ast.For | ast.While
STATEMENTS = ast.Assign | ast.AugAssign | ast.Expr
NEVER = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.TryStar, ast.With, ast.AsyncFor, ast.Lambda,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Dict, ast.Set, ast.DictComp,
    ast.SetComp, ast.Starred, ast.Import, ast.ImportFrom, ast.Match, ast.NamedExpr, ast.Delete,
)  # fmt: skip
"""What loops over arrays do not contain, or not those that are read."""
FLAT = frozenset({ndarray, float, int, Active, bool, str, type(None)})
SIZED = frozenset({range, list, tuple})
OTHERS = frozenset({dict, set, frozenset})


class PrintedLoop:
    """A loop of a function; what reads it is loaded when it first runs long enough.

    Parameters
    ----------
    loop : Loop
    code : CodeType
        Of the function; it is not held.
    """

    def __init__(self, loop: Loop, code: CodeType) -> None:
        self.loop = loop
        self.code = code.replace(co_consts=())
        self.trials: dict[Any, Trials] = {}  # by what is given: others do not change how it runs
        within = [node for s in loop.node.body for node in walk(s)]
        self.is_flat = not any(isinstance(node, LOOPS) for node in within)
        count = sum(isinstance(node, STATEMENTS) for node in within)
        self.fewest = -(-FEWEST // max(count, 1))

    def __repr__(self) -> str:
        return f"PrintedLoop({self.heading!r})"

    @property
    def heading(self) -> str:
        """The first line of the loop."""
        return ast.unparse(self.loop.node).partition("\n")[0].removesuffix(":")

    def forms(self) -> Iterator[str]:
        """Yield the texts of the forms made so far."""
        if "site" in self.__dict__:
            for readings in self.site.readings.values():
                for reading in readings:
                    yield from reading.site.forms()

    @cached_property
    def site(self) -> PrintedLoopSite:
        """Where its regions run."""
        from mooncake_py.compiler.native.loop_site import PrintedLoopSite

        return PrintedLoopSite(self.loop, self.code)

    def tried(self, ctx: Mode, steps: Any, values: Sequence[Any]) -> Any:
        """Run the loop and return what is read afterwards, or `Elsewhere`.

        Parameters
        ----------
        steps : object
            What it runs over, if that is known, else None.
        values : tuple
            Of the variables that are given, `MISSING` for those that are not bound.
        """
        if self.is_flat and type(steps) in SIZED and len(steps) < self.fewest:
            return Elsewhere
        kinds = tuple([(v.dtype, v.ndim) if type(v) is ndarray else type(v) for v in values])
        trials = self.trials.get(kinds)
        if (trials is not None and trials.rest(ctx)) or not are_of_arrays(values):
            return Elsewhere
        if trials is None:
            trials = self.trials.setdefault(kinds, Trials())
        trials.begin()
        return self.site.run_printed(ctx, values, sys._getframe(1).f_globals, trials)


def may_be_one(node: ast.For) -> bool:
    """Return False for a loop that is never read as text of NumPy."""
    return not any(isinstance(part, NEVER) for part in walk(node))


def are_of_arrays(values: Iterable[Any]) -> bool:
    """Return True if there are arrays among values, or attributes, and nothing that is not read."""
    found = False
    for value in values:
        t = type(value)
        if t is ndarray:
            found = True
        elif t in OTHERS or (t is list and value and type(value[-1]) not in FLAT):
            return False
        elif t not in FLAT and not found:
            found = any(type(v) is ndarray for v in (instance_dict(value) or {}).values())
    return found
