"""The adjoint of one scalar assignment.

    y[i] = a * x[i] / b         g = d_y[i]
                                d_y[i] = 0.0
                                v0 = g / b                    0.0 where g is
                                d_x[i] += v0 * a              0.0 where v0 is
                                d_a += v0 * x[i]
                                d_b -= v0 * y[i]

A zero cotangent stays zero next to an infinite partial.  The value of the assignment itself is
read again where a partial is made of it, unless what it overwrote is wanted too.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from mooncake_py.compiler.derivatives.activity import part_of, target_of
from mooncake_py.compiler.derivatives.cotangents import (
    Contribution,
    atom,
    cotangent,
    cotangents,
    is_among,
)
from mooncake_py.compiler.derivatives.partials import partials
from mooncake_py.compiler.native.regions.helpers import over, times
from mooncake_py.compiler.native.regions.mentions import values_in
from mooncake_py.compiler.native.sweeps.finite import is_finite
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Bump,
    Call,
    Compare,
    Const,
    Expr,
    Let,
    Load,
    Name,
    Op,
    Select,
    Statement,
    Target,
    substituted,
    with_value,
)
from mooncake_py.compiler.regions.simplify import inlined, negated, product
from mooncake_py.compiler.regions.steps import Steps

__all__ = ["NOTHING", "Pull", "Puller"]

ZERO = Const(0.0)


class Pull(NamedTuple):
    """The reverse of an assignment.

    Attributes
    ----------
    back : Block
    reads : frozenset of str
        Names and arrays whose values it reads.
    reuses : bool
        Whether it reads the value that was assigned, so it comes before what was overwritten is
        restored.
    """

    back: Block
    reads: frozenset[str]
    reuses: bool


NOTHING = Pull((), frozenset(), False)


class Puller:
    """Makes the adjoints of assignments.

    Parameters
    ----------
    active : set of str
        Names and arrays.
    kinds : mapping of str to str
        Of names and arrays.
    known : dict of str to Expr
        Numbers that are bound once, and what to.
    fresh : callable
        Returns a new name.
    is_apart : callable
        Whether statements that undo an assignment read nothing that it overwrites.
    """

    def __init__(
        self,
        active: set[str],
        kinds: Mapping[str, str],
        known: dict[str, Expr],
        fresh: Callable[[], str],
        is_apart: Callable[[Assign | Let, Block], bool],
    ) -> None:
        self.active = active
        self.kinds = kinds
        self.known = known
        self.fresh = fresh
        self.is_apart = is_apart

    def of(self, s: Assign | Let, together: bool) -> Pull:
        """Return the adjoint of an assignment, of which several passes may run `together`."""
        target = target_of(s)
        if part_of(target) not in self.active:
            return NOTHING
        steps = Steps(self.fresh, s.place)
        root = steps.of(s.value)
        own = {let.name: let.value for let in steps.lets}
        values = ChainMap(own, self.known)
        finite: dict[str, bool] = {}
        g = Name(self.fresh(), place=s.place)

        def contributions(let: Let, d: Expr, receiving: set[str]) -> Iterable[Contribution]:
            found = partials(let.value, Name(let.name))
            return [
                (a, self.times(d, p, steps, together, values, finite))
                for a, p in found
                if p is not None and is_among(a, receiving)
            ]

        found = cotangents(list(steps.lets), root, self.active, g, contributions, steps)
        ends = delivered(target, found, g, s)
        slot = cotangent(target)
        if isinstance(root, Name) and is_slow(own.get(root.name)):
            lets = [let for let in steps.lets if let.name != root.name]
            back = finished([*lets, *ends], g, slot)
            reads = values_read(back, slot)
            if root.name in reads and (part_of(target) not in reads or self.is_apart(s, back)):
                result: dict[str, Expr] = {root.name: target}
                back = tuple(with_value(b, lambda e: substituted(e, result)) for b in back)
                return Pull(back, reads - {root.name}, True)
        back = finished([*steps.lets, *ends], g, slot)
        return Pull(back, values_read(back, slot), False)

    def times(
        self,
        d: Expr,
        p: Expr,
        steps: Steps,
        together: bool,
        values: Mapping[str, Expr],
        finite: dict[str, bool],
    ) -> Expr:
        """Return a cotangent times a partial derivative, zero where the cotangent is.

        ``d * (a / b)`` is ``(d / b) * a``: other operands need ``d / b`` too.
        """
        if isinstance(d, Op) and d.op == "neg":
            return negated(self.times(d.args[0], p, steps, together, values, finite))
        if isinstance(p, Op) and p.op == "neg":
            return negated(self.times(d, p.args[0], steps, together, values, finite))
        if isinstance(p, Select) and is_choice(p.a) and is_choice(p.b):
            return chosen(atom(steps, d), p)
        if is_finite(p, values, self.kinds, finite):
            return product(d, p)
        if isinstance(p, Op) and p.op == "truediv":
            a, b = p.args
            if isinstance(a, Const):
                return quotient(product(d, a), b, together)
            share = atom(steps, quotient(d, b, together))
            return self.times(share, a, steps, together, values, finite)
        return Call(times, (d, p)) if together else guarded(d, product(d, p))


def is_choice(p: Expr) -> bool:
    """Return True for a number that is written down, or a choice of such."""
    return isinstance(p, Const) or (isinstance(p, Select) and is_choice(p.a) and is_choice(p.b))


def chosen(d: Expr, p: Expr) -> Expr:
    """Return a cotangent times a choice of numbers; nothing, also of an infinite one, for zero."""
    if isinstance(p, Select):
        return Select(p.test, chosen(d, p.a), chosen(d, p.b))
    return ZERO if p == ZERO else product(d, p)


def quotient(d: Expr, p: Expr, together: bool) -> Expr:
    """Return a cotangent over a number, zero where the cotangent is."""
    return Call(over, (d, p)) if together else guarded(d, Op("truediv", (d, p)))


def guarded(d: Expr, e: Expr) -> Expr:
    """Return a multiple of a cotangent that is zero where the cotangent is.

    By a branch, which costs nothing where one pass waits for another (a recurrence: three quarters
    of the time); what runs together takes none.
    """
    return Select(Compare(("eq",), (d, ZERO)), ZERO, e)


def delivered(
    target: Target, found: dict[Target, Expr], g: Name, s: Assign | Let
) -> list[Statement]:
    """Return statements that add the cotangent of the target to those of the operands."""
    slot = cotangent(target)
    own = found.get(target, ZERO)
    ends: list[Statement] = [] if own == g else [Assign(slot, own, place=s.place)]
    return ends + [
        Bump(cotangent(leaf), d, place=s.place) for leaf, d in found.items() if leaf != target
    ]


def finished(block: list[Statement], g: Name, slot: Target) -> Block:
    """Return statements after the cotangent of the target is read, without what nothing reads."""
    own = {s.name for s in block if isinstance(s, Let)}
    rest = inlined(tuple(block), own)
    if g.name not in values_read(rest, slot):
        return rest
    return (Let(g.name, slot, place=g.place), *rest)


def values_read(back: Block, slot: Target) -> frozenset[str]:
    """Return the names and arrays that statements read, except their own targets and the slot."""
    found: set[str] = set()
    for s in back:
        assert isinstance(s, Let | Assign | Bump)
        found |= index_names(slot) if s.value == slot else values_in((s.value,))
        found |= index_names(Name(s.name) if isinstance(s, Let) else s.target)
    return frozenset(found - {s.name for s in back if isinstance(s, Let)})


def index_names(target: Target) -> set[str]:
    """Return the names, and the arrays, that the indices of an element are made of."""
    return values_in(target.index) if isinstance(target, Load) else set()


def is_slow(e: Expr | None) -> bool:
    """Return True for an operation that takes longer than reading its result."""
    return isinstance(e, Call) or (isinstance(e, Op) and e.op in ("truediv", "pow"))
