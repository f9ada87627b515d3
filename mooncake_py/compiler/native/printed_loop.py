"""A loop that is tried as one entry, as text of NumPy."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.sites.elsewhere import Elsewhere, Other
from mooncake_py.compiler.sites.trials import Trials, is_repeated
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.users_code import HEAP_TYPE
from mooncake_py.syntax.trees import walk

if TYPE_CHECKING:
    from mooncake_py.compiler.native.loop_site import PrintedLoopSite
    from mooncake_py.compiler.native.reading.loop_names import Loop
    from mooncake_py.runtime.mode import Mode

__all__ = ["PrintedComprehension", "PrintedLoop", "may_be_one"]

FEWEST = 24
"""Statements on arrays, in all passes, from which on the way in and out costs less than
it saves."""
Original = ast.For | ast.While | ast.expr
COMPREHENSION = ast.ListComp | ast.GeneratorExp
LEAST = 160
"""Statements and operations on numbers, from which on the same holds for these."""
LOOPS = ast.For | ast.While | COMPREHENSION | ast.comprehension
STATEMENTS = ast.Assign | ast.AugAssign | ast.Expr
OPERATIONS = ast.BinOp | ast.UnaryOp | ast.Call | ast.Compare | ast.Subscript
NEVER = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.TryStar, ast.With, ast.AsyncFor,
    ast.AsyncFunctionDef, ast.ClassDef, ast.Dict, ast.Set, ast.DictComp,
    ast.SetComp, ast.Starred, ast.Import, ast.ImportFrom, ast.Match, ast.NamedExpr, ast.Delete,
)  # fmt: skip
"""Constructs that loops over arrays do not contain, or not those that are read."""
ENOUGH = 2000
"""Operations on numbers, which take as long one by one as to read a loop of them."""
LONGER = 8  # times as many, where a reading was cut
PASSES = 32  # of a loop of which nothing tells how many
COUNTED = frozenset({range, list, tuple, ndarray})
SIZED = frozenset({range, list, tuple})
OTHERS = frozenset({set, frozenset})


class PrintedLoop:
    """A loop of a function; what reads it is loaded when it first runs long enough.

    Parameters
    ----------
    loop : Loop
    code : CodeType
        Of the function; only that of functions which it makes is held.
    original : For, While or expr
        As it is in the function.
    """

    def __init__(self, loop: Loop, code: CodeType, original: Original) -> None:
        self.loop = loop
        self.original = original
        self.code = code.replace(co_consts=codes_made(code))
        self.worked = 0  # operations, about, in all runs so far
        self.longer = 1  # so many times more operations as it takes to read it
        self.trials: dict[Any, Trials] = {}  # by what is given: others do not change how it runs
        within = [node for part in self.repeated() for node in walk(part)]
        self.is_flat = not any(isinstance(node, LOOPS) for node in within)
        self.statements = sum(isinstance(node, STATEMENTS) for node in within)
        self.operations = self.statements + sum(isinstance(node, OPERATIONS) for node in within)

    def __repr__(self) -> str:
        return f"PrintedLoop({self.heading!r})"

    def repeated(self) -> list[Any]:
        """Return the parts that each pass runs."""
        return self.loop.node.body

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
        return min(of_arrays, LEAST // max(self.operations, 1))

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
        return self.run(ctx, steps, values, sys._getframe(1).f_globals)

    def run(self, ctx: Mode, steps: Any, values: Sequence[Any], scope: dict[str, Any]) -> Any:
        """Do the same for a function of which the global variables are given."""
        if self.is_flat and type(steps) in SIZED and len(steps) < self.fewest:
            return Elsewhere
        if "site" in self.__dict__:
            found = self.site.run_again(ctx, values, scope)
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
        if self.waits(ctx, steps):
            return Elsewhere
        trials.begin()
        found = self.site.run_printed(ctx, values, scope, trials)
        if found is Elsewhere and self.site.may_read_more():
            self.longer *= LONGER
        return found

    def waits(self, ctx: Mode, steps: Any) -> bool:
        """Return True while all runs together take less time than to read the loop.

        What runs again must take the same way both times, so no runs are counted there.
        """
        if self.worked >= ENOUGH * self.longer or is_repeated(ctx):
            return False
        passes = len(steps) if type(steps) in COUNTED else PASSES
        self.worked += passes * self.operations * (1 if self.is_flat else PASSES)
        return self.worked < ENOUGH * self.longer


class PrintedComprehension(PrintedLoop):
    """A comprehension or a sum of one, which is tried like a loop."""

    def __init__(self, loop: Loop, code: CodeType, original: ast.expr) -> None:
        super().__init__(loop, code, original)
        self.statements += 1  # what becomes of each element
        self._beside: list[Any] = []

    @override
    def repeated(self) -> list[Any]:
        (made,) = [p for p in walk(self.original) if isinstance(p, COMPREHENSION)][:1]
        first, *others = made.generators
        return [made.elt, *first.ifs, *others]

    def are_bound(self, read: Callable[[], Any]) -> bool:
        """Return whether captured variables have values now, which `read` reads.

        One that has none is an error only where it is read as written, not if nothing is iterated.
        """
        try:
            read()
        except NameError:
            return False
        return True

    def value(self, ctx: Mode, steps: Any, values: Sequence[Any]) -> tuple[Any] | None:
        """Return the result, in a tuple; None if it must be computed as it is written."""
        found = self.run(ctx, steps, values, sys._getframe(1).f_globals)
        if type(found) is tuple:
            return found
        if found is not Elsewhere:
            self._beside.append(found)
        return None

    def same(self, made: tuple[Any]) -> tuple[Any]:
        """Return the result of the code as written, compared with that of the text, if it has run.

        What a generator yields is a list then.
        """
        if not self._beside:
            return made
        found = self._beside.pop()
        if isinstance(made[0], Iterator):
            made = ([*made[0]],)
        found.compare(made)
        return made


def codes_made(code: CodeType) -> tuple[CodeType, ...]:
    """Return the code of the functions that a function makes."""
    return tuple([c for c in code.co_consts if isinstance(c, CodeType)])


def may_be_one(node: Original) -> bool:
    """Return False for a loop or a comprehension that is never read as text of NumPy."""
    never = NEVER if isinstance(node, ast.stmt) else (*NEVER, ast.Lambda)
    return not any(isinstance(part, never) for part in walk(node))


def kind_of(value: Any) -> Any:
    """Return of what kind a variable is; classes of the user's, which are not held, are one."""
    t = type(value)
    if t is ndarray:
        return value.dtype, value.ndim
    return object if t.__flags__ & HEAP_TYPE and t is not Active else t
