"""A loop that is tried as one entry, as text of NumPy."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.sites import effort
from mooncake_py.compiler.sites.elsewhere import Elsewhere, Other
from mooncake_py.compiler.sites.trials import Trials
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.users_code import HEAP_TYPE
from mooncake_py.syntax.trees import walk

if TYPE_CHECKING:
    from mooncake_py.compiler.native.loop_site import PrintedLoopSite
    from mooncake_py.compiler.native.reading.loop_names import Loop
    from mooncake_py.runtime.mode import Mode

__all__ = ["PrintedLoop", "may_be_one"]

FEWEST = 24
"""Statements on arrays, in all passes, from which on the way in and out costs less than
it saves."""
LOOPS = ast.For | ast.While
STATEMENTS = ast.Assign | ast.AugAssign | ast.Expr
OPERATIONS = ast.BinOp | ast.UnaryOp | ast.Call | ast.Compare | ast.Subscript
NEVER = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.TryStar, ast.With, ast.AsyncFor, ast.Lambda,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Dict, ast.Set, ast.DictComp,
    ast.SetComp, ast.Starred, ast.Import, ast.ImportFrom, ast.Match, ast.NamedExpr, ast.Delete,
)  # fmt: skip
"""Constructs that loops over arrays do not contain, or not those that are read."""
SIZED = frozenset({range, list, tuple})
OTHERS = frozenset({set, frozenset})


class PrintedLoop:
    """A loop of a function; what reads it is loaded when it first runs long enough.

    Parameters
    ----------
    loop : Loop
    code : CodeType
        Of the function; it is not held.
    original : For or While
        As it is in the function.
    """

    def __init__(self, loop: Loop, code: CodeType, original: ast.For | ast.While) -> None:
        self.loop = loop
        self.original = original
        self.code = code.replace(co_consts=())
        self.trials: dict[Any, Trials] = {}  # by what is given: others do not change how it runs
        within = [node for s in loop.node.body for node in walk(s)]
        self.is_flat = not any(isinstance(node, LOOPS) for node in within)
        self.statements = sum(isinstance(node, STATEMENTS) for node in within)
        self.operations = self.statements + sum(isinstance(node, OPERATIONS) for node in within)

    def __repr__(self) -> str:
        return f"PrintedLoop({self.heading!r})"

    @property
    def heading(self) -> str:
        """The first line of the loop."""
        return ast.unparse(self.original).partition("\n")[0].removesuffix(":")

    def forms(self) -> Iterator[str]:
        """Yield the sources of the forms made so far."""
        if "site" in self.__dict__:
            for readings in self.site.readings.values():
                for reading in readings:
                    yield from reading.site.forms()

    @property
    def fewest(self) -> int:
        """The passes from which on it may be worth it, whatever the statements are on."""
        of_arrays = FEWEST // max(self.statements, 1)
        return min(of_arrays, effort.LEAST // max(self.operations, 1))

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
        if "site" in self.__dict__:
            found = self.site.run_again(ctx, values, sys._getframe(1).f_globals)
            if found is not Other:
                return found
        if not OTHERS.isdisjoint(map(type, values)):
            return Elsewhere
        kinds = tuple(map(kind_of, values))
        trials = self.trials.get(kinds)
        if trials is None:
            trials = self.trials.setdefault(kinds, Trials())
        elif trials.rest(ctx):
            return Elsewhere
        trials.begin()
        return self.site.run_printed(ctx, values, sys._getframe(1).f_globals, trials)


def may_be_one(node: ast.For | ast.While) -> bool:
    """Return False for a loop that is never read as text of NumPy."""
    return not any(isinstance(part, NEVER) for part in walk(node))


def kind_of(value: Any) -> Any:
    """Return of what kind a variable is; classes of the user's, which are not held, are one."""
    t = type(value)
    if t is ndarray:
        return value.dtype, value.ndim
    return object if t.__flags__ & HEAP_TYPE and t is not Active else t
