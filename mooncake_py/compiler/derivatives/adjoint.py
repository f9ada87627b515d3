"""Turn a region into two sweeps: a forward sweep that saves data, and a reverse sweep.

Before: the grammar of `read` and `tangent`, with types and flags.  After: that, with ``Finite``,
``Push``, ``Bump`` and ``Pop``::

    x[i] = x[i] + a * x[i - 1]      v0 = x[i - 1]              s0 = pop floats
                                    v1 = x[i] + a * v0         g = d_x[i]
                                    push floats v0             d_a += g * s0
                                    finite v1                  d_x[i - 1] += g * a
                                    x[i] = v1

The forward sweep saves the slope of a statement with respect to an active operand, which is one
number, unless the slope is an operand that no statement of the region changes.  It saves ints of
indices before they change; branches push their side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from mooncake_py.compiler.derivatives.activity import part_of, target_of
from mooncake_py.compiler.derivatives.cotangents import slopes as slopes_of
from mooncake_py.compiler.derivatives.domains import domain_check, on_floats
from mooncake_py.compiler.derivatives.sweeps import Pair, Sweeper, Sweeps
from mooncake_py.compiler.regions.ir import (
    FLOATS,
    INTS,
    Assign,
    Block,
    Bump,
    Call,
    Const,
    Count,
    End,
    Expr,
    Finite,
    For,
    If,
    Let,
    Load,
    Name,
    Op,
    Pop,
    Push,
    Statement,
    Target,
    While,
    statements,
    walk,
)
from mooncake_py.compiler.regions.simplify import ONE, expressions_of, inlined, negated, product
from mooncake_py.compiler.regions.steps import Names, Steps
from mooncake_py.syntax.nodes import Place

__all__ = ["RegionAdjoint", "adjoint", "cotangent", "steered"]


def adjoint(body: Block, active: set[str], fixed: set[str], counts: Iterable[str]) -> Sweeps:
    """Return both sweeps of a region; without anything active the forward one alone.

    Parameters
    ----------
    body : Block
    active : set of str
        Names and arrays that are, somewhere in the region.
    fixed : set of str
        Inputs that no statement of the region changes: numbers, and arrays with their memory.
    counts : iterable of str
        Names that are ints for certain.
    """
    found = RegionAdjoint(active, fixed, steered(body).intersection(counts))
    forward, reverse = found.block(body)
    return Sweeps(tuple(forward), tuple(reverse))


def steered(body: Block) -> set[str]:
    """Return the names that stand in indices and ranges."""
    found: set[str] = set()
    for s in statements(body):
        whole: list[Expr] = [s.range] if isinstance(s, For) else []
        for e in (*expressions_of(s), *((s.target,) if isinstance(s, Assign) else ())):
            whole += [i for part in walk(e) if isinstance(part, Load) for i in part.index]
        found |= {part.name for e in whole for part in walk(e) if isinstance(part, Name)}
    return found


def cotangent(target: Target) -> Target:
    """Return the cotangent of a name or an element."""
    if isinstance(target, Load):
        return Load(f"d_{target.array}", target.index, place=target.place)
    if isinstance(target, End):
        return End(f"d_{target.array}", place=target.place)
    return Name(f"d_{target.name}", place=target.place)


class RegionAdjoint(Sweeper):
    """Goes through a region, once.

    Attributes
    ----------
    counters : list of str
        Of the loops around a statement.
    computed : set of str
        Names of ours whose value is more than a copy.
    """

    def __init__(self, active: set[str], fixed: set[str], steered: set[str]) -> None:
        super().__init__()
        self.active = active
        self.fixed = fixed
        self.steered = steered
        self.counters: list[str] = []
        self.computed: set[str] = set()

    def simple(self, s: Statement) -> Pair:
        """Return the sweeps of a statement that is neither a loop nor a branch."""
        if isinstance(s, Assign | Let):
            return self.assigned(s, target_of(s))
        return self.counted(s) if isinstance(s, Count) else ([s], [])

    def is_replayed(self, s: If) -> bool:
        """Return True if a branch need not note its side: there is no way back."""
        return not self.active

    def repeated(self, loop: For | While) -> Pair:
        """Return the sweeps of a loop."""
        if isinstance(loop, While):
            return super().repeated(loop)
        self.counters.append(loop.name)
        found = super().repeated(loop)
        self.counters.pop()
        return found

    def counted(self, s: Count) -> Pair:
        """Return the sweeps of an int: an index of a later statement needs the old one."""
        if s.name not in self.steered or not self.active:
            return [s], []
        old = Name(s.name, place=s.place)
        back = Count(s.name, Pop(INTS, place=s.place), place=s.place)
        return [Push(INTS, old, place=s.place), s], [back]

    # Assignments.

    def assigned(self, s: Assign | Let, target: Target) -> Pair:
        """Return the sweeps of an assignment."""
        steps = Steps(Names("v"), s.place)
        root = steps.of(s.value)
        slopes = slopes_of(steps, root, self.active) if part_of(target) in self.active else {}
        saved, slopes = self.saved(steps, slopes)
        ahead: list[Statement] = []
        for let in steps.lets:
            check = domain_check(let.value)
            if check is not None and check not in ahead:
                ahead.append(check)
            if isinstance(let.value, Call):
                let = Let(let.name, on_floats(let.value), place=let.place)
            ahead.append(let)
        ahead += [Push(FLOATS, slope, place=s.place) for slope in saved]
        ahead += self.stored(s, root, steps.lets, len(saved) < len(slopes))
        back: list[Statement] = [
            Let(saved[slope], Pop(FLOATS), place=s.place) for slope in reversed(saved)
        ]
        if part_of(target) in self.active:
            delivered = self.delivered(target, slopes, s.place)
            back = [*back, *delivered] if delivered else []
        own = {let.name for let in steps.lets}
        return list(inlined(tuple(ahead), own)), back

    def stored(
        self, s: Assign | Let, root: Expr, lets: list[Let], reads_again: bool
    ) -> list[Statement]:
        """Return code that binds the value, and notes whether it is finite if it was computed.

        A name of ours need not be, unless slopes that are not saved rely on it: see `is_at_hand`.
        """
        loads = {let.name for let in lets if isinstance(let.value, Load)}
        own = {let.name for let in lets} - loads
        is_new = isinstance(root, Name) and (root.name in own or root.name in self.computed)
        finite = [Finite(root, place=s.place)] if is_new else []
        if isinstance(s, Assign):
            return [*finite, Assign(s.target, root, s.type, place=s.place)]
        (self.computed.add if is_new else self.computed.discard)(s.name)
        bound = Assign(Name(s.name, place=s.place), root, place=s.place)
        return [*finite, bound] if reads_again else [bound]

    def saved(
        self, steps: Steps, slopes: dict[Target, Expr]
    ) -> tuple[dict[Expr, str], dict[Target, Expr]]:
        """Return the slopes that are saved, and how each is called; and all slopes on the way back.

        A sign is not saved.
        """
        values = {let.name: let.value for let in steps.lets}
        kept: dict[Expr, str] = {}
        back: dict[Target, Expr] = {}
        for leaf, slope in slopes.items():
            again = read(slope, values)
            if self.is_at_hand(again):
                back[leaf] = again
                continue
            if isinstance(slope, Op) and slope.op == "neg":
                back[leaf] = negated(Name(kept.setdefault(slope.args[0], f"s{len(kept)}")))
            else:
                back[leaf] = Name(kept.setdefault(slope, f"s{len(kept)}"))
        return kept, back

    def is_at_hand(self, e: Expr) -> bool:
        """Return True if the way back can read a slope, where nothing changes it.

        It need not be tested: a factor that is not finite makes the value so.  Of a product of
        factors, or a quotient, that does not hold.
        """
        if isinstance(e, Const):
            return e.value is not None and abs(e.value) < math.inf
        if isinstance(e, Op) and e.op == "neg":
            return self.is_at_hand(e.args[0])
        if isinstance(e, Load) and e.array not in self.fixed:
            return False
        return isinstance(e, Load | Name) and all(
            part.name in self.fixed or part.name in self.counters
            for part in walk(e)
            if isinstance(part, Name)
        )

    def delivered(
        self, target: Target, slopes: dict[Target, Expr], place: Place | None
    ) -> list[Statement]:
        """Return code that adds the cotangent of the target to those of the operands."""
        slot, g = cotangent(target), Name("g")
        back: list[Statement] = [Let("g", slot, place=place)]
        own = slopes.get(target)
        if isinstance(target, End):
            pass  # who reads it has taken it away
        elif own is None:
            back.append(Assign(slot, Const(0.0), place=place))
        elif own != ONE:
            back.append(Assign(slot, product(g, own), place=place))
        back += [
            Bump(cotangent(leaf), product(g, slope), place=place)
            for leaf, slope in slopes.items()
            if leaf != target
        ]
        return back if len(back) > 1 or isinstance(target, End) else []


def read(slope: Expr, values: dict[str, Expr]) -> Expr:
    """Return a slope as it is read: an element, not the name that it was given."""
    if isinstance(slope, Op) and slope.op == "neg":
        return negated(read(slope.args[0], values))
    found = values.get(slope.name, slope) if isinstance(slope, Name) else slope
    return found if isinstance(found, Load) else slope
