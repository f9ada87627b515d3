"""Sums and products along axes, and those up to each element, as loops."""

from __future__ import annotations

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.narrow import as_kind
from mooncake_py.compiler.native.building.values import Array, Index
from mooncake_py.compiler.native.lowering.operands import Operands
from mooncake_py.compiler.native.regions.linear import ONE
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Assign, Const, ForAll, Load, Name, Op
from mooncake_py.compiler.regions.wholes import ACCUMULATED, CUMULATIVE

__all__ = ["added_up", "cumulated", "multiplied"]


def added_up(b: Builder, o: Operands) -> None:
    """Add up floats; of float32 in float64, except in matrix products, as BLAS does."""
    s = o.s
    if o.kind == FLOAT or s.op not in ACCUMULATED:
        if isinstance(s.target, Name):
            b.add(Assign(s.target, Const(0.0), place=s.place))
        bump(b, o, s.target)
    elif isinstance(s.target, Name):
        total = b.number(Const(0.0))
        bump(b, o, total)
        b.add(Assign(s.target, as_kind(total, FLOAT, o.kind), place=s.place))
    else:
        rounded(b, o, s.target)


def bump(b: Builder, o: Operands, target: Name | Load) -> None:
    """Add all numbers to what they belong to."""
    s = o.s
    one = Assign(target, Op("add", (target, s.value)), place=s.place)
    b.add(ForAll(s.counters, s.extents, (one,), place=s.place) if s.counters else one)


def rounded(b: Builder, o: Operands, target: Load) -> None:
    """Add up in new memory, and store what is rounded."""
    shape = [o.sizes[i.name] if isinstance(i, Name) else ONE for i in target.index]
    sums = b.new(shape, FLOAT, zero=True)
    bump(b, o, Load(sums.base, target.index))
    found = Array(sums.shape, o.kind, lambda index: Load(target.array, index))
    b.for_all(found.shape, lambda at: b.stored(found, at, as_kind(sums.at(at), FLOAT, o.kind)))


def multiplied(b: Builder, o: Operands) -> None:
    """Multiply floats."""

    def one() -> None:
        s = o.s.target if isinstance(o.s.target, Name) else b.unbound(FLOAT)
        b.add(Assign(s, Const(1.0), place=b.place))
        b.in_order(o.extents, lambda at: b.add(Assign(s, Op("mul", (s, o.at(at))), place=b.place)))
        if s is not o.s.target:
            b.add(o.stored(s))

    o.for_each(b, one)


def cumulated(b: Builder, o: Operands) -> None:
    """Add up or multiply floats, and store what there is at each of them."""
    op, start = CUMULATIVE[o.s.op]

    def one() -> None:
        s = b.number(Const(start))

        def step(at: Index) -> None:
            b.add(Assign(s, Op(op, (s, o.at(at))), place=b.place))
            b.add(Assign(o.target_at(at), s, place=b.place))

        b.in_order(o.extents, step)

    o.for_each(b, one)
