"""The tangent of a statement as a statement of the mode below, by its quick forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.regions.ir import Call, Expr, Name, parts_of, rebuilt
from mooncake_py.compiler.regions.steps import Names, Steps
from mooncake_py.compiler.statements.complexes import complex_names, is_complex_within
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.forward_forms import is_finite, new_memory
from mooncake_py.compiler.statements.general import one_by_one
from mooncake_py.compiler.statements.pushforward import in_one, tangent_of
from mooncake_py.compiler.statements.statement import Part, Statement, View, operand
from mooncake_py.runtime.quiet import Quiet

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Below", "below"]


def below(
    core: Core, moving: frozenset[int], complexes: frozenset[int] = frozenset()
) -> Below | None:
    """Return the tangent of the value of a statement, None where it is zero.

    Parameters
    ----------
    core : Core
    moving : frozenset of int
        The operands that have a tangent.
    complexes : frozenset of int
        The positions of values that are complex.

    Raises
    ------
    NoPartial
        If it cannot be worked out.
    """
    steps = Steps(Names("e"), None)
    names = complex_names(core, complexes)
    root = tangent_of(core, sorted(moving), steps, is_followed=True, complexes=names)
    if root is None:
        return None
    return Below(core, new_memory(in_one(root, (*core.lets, *steps.lets))))


class Below:
    """A tangent as a statement of the mode below.

    Parameters
    ----------
    core : Core
        The operations of the statement whose tangent it is.
    tangent : Expr
        Over operands v0, v1, ... and their tangents d0, d1, ...
    """

    def __init__(self, core: Core, tangent: Expr) -> None:
        from mooncake_py.compiler.statements.site import StatementSite

        self.own = core.statement
        self.of_own = core.functions
        self.functions: list[Any] = []
        self.sources: list[tuple[bool, int]] = []  # of each value: a tangent or not, its position
        self.layout: list[Part] = []
        self.operands: dict[str, Expr] = {}
        value = self.of(tangent)
        moved = {new: old for new, (on, old) in enumerate(self.sources) if not on}
        ints, certain = dict(self.own.ints), self.own.certain
        statement = Statement(
            value, tuple(self.layout), len(self.sources),
            ints=tuple((new, ints[old]) for new, old in moved.items() if old in ints),
            certain=frozenset(new for new, old in moved.items() if old in certain),
            has_complex=is_complex_within(value),
        )  # fmt: skip
        self.site = StatementSite(statement, one_by_one(statement))

    def of(self, e: Expr) -> Expr:
        """Return an expression over the operands of the new statement."""
        if isinstance(e, Name):
            if e.name not in self.operands:
                self.operands[e.name] = operand(len(self.layout))
                self.layout.append(self.part(e.name))
            return self.operands[e.name]
        parts = tuple(map(self.of, parts_of(e)))
        if not isinstance(e, Call):
            return rebuilt(e, parts)
        return Call(self.function(e.function), parts)

    def function(self, f: Any) -> int:
        """Pass a function, once; return its position."""
        if not any(f is known for known in self.functions):
            self.functions.append(f)
        return next(k for k, known in enumerate(self.functions) if known is f)

    def part(self, name: str) -> Part:
        """Return where an operand, or its tangent, is among the values that are passed."""
        is_tangent, old = name[0] == "d", self.own.layout[int(name[1:])]
        if isinstance(old, tuple):
            place = self.position(is_tangent, old[0]), self.position(False, old[1])
            if not isinstance(old, View):
                return place
            f = old.function
            own = f if isinstance(f, str) else self.function(self.of_own[f])
            return View(*place, old.whole, own)
        return self.position(is_tangent, old)

    def position(self, is_tangent: bool, position: int) -> int:
        """Pass a value, once; return its position."""
        source = is_tangent, position
        if source not in self.sources:
            self.sources.append(source)
        return self.sources.index(source)

    def run(self, ctx: Mode, primals: list[Any], tangents: list[Any]) -> Any:
        """Return the tangent, or None if it is not finite or something is raised."""
        given = primals, tangents
        values = tuple([given[on][position] for on, position in self.sources])
        try:
            with Quiet():
                t = self.site.run(ctx, tuple(self.functions), values)
                return t if is_finite(t) else None
        except Exception:
            return None  # the value raises it in its own words
