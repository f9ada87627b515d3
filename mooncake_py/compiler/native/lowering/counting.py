"""`any`, `all`, counts and positions of elements, and sums of ints, as loops that count."""

from __future__ import annotations

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.lowering.operands import Operands
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import (
    Assign,
    Const,
    Count,
    Expr,
    For,
    If,
    Load,
    Name,
    Op,
    Places,
    Select,
    Statement,
)

__all__ = ["gathered", "places"]

TRUTHS = {"any": "or", "all": "and"}


def gathered(b: Builder, o: Operands) -> None:
    """Go through bools or ints, one after another."""
    found, op = o.s.target, o.s.op
    assert isinstance(found, Name)

    def more(e: Expr) -> Expr:
        if op in TRUTHS:
            return Op(TRUTHS[op], (found, e))
        after = Op("add", (found, ONE if op == "count" else e))
        return Select(e, after, found) if op == "count" else after

    b.rebind(found, Const(op == "all") if op in TRUTHS else ZERO)
    b.in_order(o.extents, lambda at: b.rebind(found, more(o.at(at))))


def places(b: Builder, s: Places) -> None:
    """Note where a test holds."""
    count = b.changing(ZERO, INT)
    notes = [
        Assign(Load(array, (count,)), i, place=s.place)
        for array, i in zip(s.arrays, s.index, strict=True)
    ]
    more = Count(count.name, Op("add", (count, ONE)), place=s.place)
    block: tuple[Statement, ...] = (If(s.test, (*notes, more), (), place=s.place),)
    for name, n in reversed([*zip(s.counters, s.extents, strict=True)]):
        block = (For(name, Op("range", (ZERO, n, ONE)), block, place=s.place),)
    b.block += block
    b.add(Count(s.count, count, place=s.place))
