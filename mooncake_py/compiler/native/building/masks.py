"""Where arrays are true or not zero, as arrays of ints."""

from __future__ import annotations

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import Array, Index, Unfit
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, times
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.ir import Compare, Count, Expr, If, Op

__all__ = ["places"]


def places(b: Builder, a: Array) -> list[Array]:
    """Return along each axis where the elements are that are true, in the order of rows."""
    if not a.shape:
        raise Unfit("where an array without axes is true", b.place)
    size: Expr = ONE
    for n in a.shape:
        size = times(size, n)
    memory = [b.new((size,), INT) for _ in a.shape]
    count = b.changing(ZERO, INT)
    b.ranges.natural.add(count.name)

    def noted(at: Index) -> None:
        e = a.at(at)
        test = e if a.kind == BOOL else Compare(("ne",), (e, ZERO))
        notes = [b.stored(found, (count,), i) for found, i in zip(memory, at, strict=True)]
        more = Count(count.name, Op("add", (count, ONE)), place=b.place)
        b.add(If(test, (*notes, more), (), place=b.place))

    b.in_order(a.shape, noted)
    found = b.counted(count)
    b.ranges.natural.add(found.name)
    return [Array((found,), INT, part.at, part.base) for part in memory]
