"""From a region to one that computes tangents as well as values, which is a region again.

    for all j < n:                  for all j < n:
        y[j] = a * x[j]                 t1_y[j] = t1_a * x[j] + a * t1_x[j]
                                    for all j < n:
                                        y[j] = a * x[j]

A zero tangent stays zero next to an infinite partial: ``times(t, p)`` is zero where ``t`` is, and
has the derivative of ``t * p``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mooncake_py.compiler.derivatives.activity import part_of, target_of
from mooncake_py.compiler.derivatives.partials import partials
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.mentions import unused
from mooncake_py.compiler.native.regions.region import FLOAT, INT, REAL, NativeRegion
from mooncake_py.compiler.native.sweeps.applied import Derivatives
from mooncake_py.compiler.native.sweeps.finite import is_finite
from mooncake_py.compiler.native.sweeps.normal import normal
from mooncake_py.compiler.native.sweeps.reduced import pushed
from mooncake_py.compiler.regions.flat import is_flat
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Const,
    Expr,
    ForAll,
    Grow,
    Let,
    Load,
    Name,
    Op,
    Reduce,
    Statement,
    Target,
    parts_of,
    statements,
    substituted,
    with_blocks,
    with_value,
)
from mooncake_py.compiler.regions.simplify import added, inlined, negated, product
from mooncake_py.compiler.regions.steps import Steps

__all__ = ["tangent"]

ZERO = Const(0.0)


def tangent(region: NativeRegion, active: set[str]) -> tuple[NativeRegion, dict[str, str]]:
    """Return the tangent of a region, and what the tangents of names and arrays are called.

    Parameters
    ----------
    region : NativeRegion
    active : set of str
        Names and arrays that are, somewhere in the region: see `activity.active_parts`.

    Returns
    -------
    NativeRegion
        Takes the inputs of the region, then the tangents of those that are active, in order; and
        gives back the results, then the tangents of those that are active.  Tangents of array
        inputs are written in place, as the inputs are.
    dict of str to str
        For each active name and array the name of its tangent.

    Raises
    ------
    NoPartial
        If the derivative of an operation is not known.
    """
    order = next_order(region.kinds)
    names = {name: f"t{order}_{name}" for name in active if region.kinds.get(name, FLOAT) in REAL}

    def times(t: Expr, p: Expr) -> Expr:
        if isinstance(p, Op) and p.op == "neg":
            return negated(times(t, p.args[0]))
        is_safe = isinstance(t, Const) or is_finite(p, {}, region.kinds)
        return product(t, p) if is_safe else Op("times", (t, p))

    pushforward = Pushforward(names, unused(f"e{order}_", region.kinds), times)
    body = pushforward.block(normal(region))
    own = {t: region.kinds.get(name, FLOAT) for name, t in names.items()}
    kinds = with_names(body, region.kinds | own)
    made = {s.name: len(s.shape) for s in statements(body) if isinstance(s, Alloc)}
    return (
        NativeRegion(
            body,
            with_tangents(region.inputs, names),
            kinds,
            region.arrays | made | {names[a]: n for a, n in region.arrays.items() if a in names},
            with_tangents(region.results, names),
            region.complexes | {names[a] for a in region.complexes if a in names},
            region.lists | {names[a] for a in region.lists if a in names},
            region.private,
            region.contiguous,
            region.is_exact,
        ),
        names,
    )


class Pushforward:
    """Goes through the blocks of a region, once.

    The tangent of a name or an array is bound before the value, which may overwrite its operands.

    Parameters
    ----------
    names : dict of str to str
        For each active name and array what its tangent is called.
    fresh : callable
        Returns a new name.
    times : callable
        Returns the product of a tangent and a partial derivative.
    """

    def __init__(
        self,
        names: dict[str, str],
        fresh: Callable[[], str],
        times: Callable[[Expr, Expr], Expr],
    ) -> None:
        self.names = names
        self.fresh = fresh
        self.times = times

    def block(self, block: Block) -> Block:
        """Return a block with tangents."""
        result: list[Statement] = []
        for s in block:
            match s:
                case Assign() | Let():
                    result += self.assigned(s, target_of(s))
                case ForAll(body=(Assign() as inner,)):
                    result += self.for_all(s, inner)
                case Alloc(name=name):
                    result.append(s)
                    if name in self.names:
                        own = self.names[name]
                        result.append(Alloc(own, s.shape, s.kind, s.zero, place=s.place))
                case Grow(name=name):
                    result.append(s)
                    if name in self.names:
                        result.append(Grow(self.names[name], s.least, place=s.place))
                case Apply():
                    result += Derivatives(self.fresh).push(s, self.names)
                case Reduce():
                    result += pushed(s, self.names, self.fresh, self.tangent_of, self.of_value)
                case _:
                    result.append(with_blocks(s, self.block))
        return tuple(result)

    def assigned(self, s: Assign | Let, target: Target) -> Block:
        """Return an assignment after that of its tangent."""
        if part_of(target) not in self.names:
            return (s,)
        steps = Steps(self.fresh, s.place)
        root = steps.of(s.value)
        t = self.of(steps, root)
        own = self.tangent_of(target)
        first = (
            Assign(own, ZERO if t is None else t, place=s.place)
            if isinstance(s, Assign)
            else (Let(part_of(own), ZERO if t is None else t, place=s.place))
        )
        own = {let.name for let in steps.lets}
        return inlined((*steps.lets, first, with_value(s, lambda _: root)), own)

    def for_all(self, s: ForAll, inner: Assign) -> Block:
        """Return a loop over all elements after that for the tangents, an assignment in each."""
        values: dict[str, Expr] = {}
        result: list[Statement] = []
        for part in self.assigned(inner, inner.target):
            part = with_value(part, lambda e: substituted(e, values))
            if isinstance(part, Let):
                values[part.name] = part.value
            else:
                result.append(ForAll(s.counters, s.extents, (part,), place=s.place))
        return tuple(result)

    def tangent_of(self, leaf: Target) -> Target:
        """Return the tangent of a name or an element."""
        if isinstance(leaf, Load):
            return Load(self.names[leaf.array], leaf.index, place=leaf.place)
        return Name(self.names[leaf.name], place=leaf.place)

    def of(self, steps: Steps, root: Expr) -> Expr | None:
        """Return the tangent of the value of some operations, or None if it is zero."""
        tangents: dict[str, Expr | None] = {}

        def of_operand(e: Expr) -> Expr | None:
            if not isinstance(e, Name):
                return None
            if e.name in tangents:
                return tangents[e.name]
            return self.tangent_of(e) if e.name in self.names else None

        for let in list(steps.lets):
            t = self.of_operation(let, of_operand)
            tangents[let.name] = None if t is None else steps.of(t)
        return of_operand(root)

    def of_operation(self, let: Let, of_operand: Callable[[Expr], Expr | None]) -> Expr | None:
        """Return the tangent of the value of one operation."""
        e = let.value
        if isinstance(e, Load):
            return self.tangent_of(e) if e.array in self.names else None
        if is_flat(e) or all(of_operand(part) is None for part in parts_of(e)):
            return None
        total: Expr = ZERO
        for a, p in partials(e, Name(let.name)):
            t = of_operand(a)
            if t is not None and p is not None:
                total = added(total, self.times(t, p))
        return None if total == ZERO else total

    def of_value(self, e: Expr) -> Expr | None:
        """Return the tangent of an expression in one, None if it is zero."""
        steps = Steps(self.fresh, None)
        t = self.of(steps, steps.of(e))
        if t is None:
            return None
        values: dict[str, Expr] = {}
        for let in steps.lets:
            values[let.name] = substituted(let.value, values)
        return substituted(t, values)


def next_order(names: Iterable[str]) -> int:
    """Return a number that stands in no name of a tangent."""
    order = 1
    while any(name.startswith(f"t{order}_") for name in names):
        order += 1
    return order


def with_tangents(given: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return names and arrays, and then the tangents of those that are active."""
    return (*given, *(names[name] for name in given if name in names))


def with_names(body: Block, kinds: dict[str, str]) -> dict[str, str]:
    """Return kinds with those of names and arrays of ours."""
    kinds = dict(kinds)
    for s in statements(body):
        if isinstance(s, Let) and s.name not in kinds:
            kinds[s.name] = kind_of(s.value, kinds)
        elif isinstance(s, Alloc):
            kinds.setdefault(s.name, s.kind)
        elif isinstance(s, ForAll):
            kinds = dict.fromkeys(s.counters, INT) | kinds
        elif isinstance(s, Reduce):
            kinds.setdefault(part_of(s.target), FLOAT)
    return kinds
