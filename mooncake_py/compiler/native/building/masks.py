"""Where arrays are true or not zero, as arrays of ints."""

from __future__ import annotations

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import Array, Unfit
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, times
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.ir import Compare, Expr, Places

__all__ = ["places"]


def places(b: Builder, a: Array) -> list[Array]:
    """Return along each axis where the elements are that are true, in the order of rows."""
    if not a.shape:
        raise Unfit("where an array without axes is true", b.place)
    size: Expr = ONE
    for n in a.shape:
        size = times(size, n)
    memory = [b.new((size,), INT) for _ in a.shape]
    count = b.unbound_int()
    b.ranges.natural.add(count.name)
    counters, extents, at = b.all_within(a.shape)
    e = a.at(at)
    test = e if a.kind == BOOL else Compare(("ne",), (e, ZERO))
    arrays = tuple([found.base for found in memory])
    b.add(Places(count.name, arrays, counters, extents, at, test, place=b.place))
    return [Array((count,), INT, part.at, part.base) for part in memory]
