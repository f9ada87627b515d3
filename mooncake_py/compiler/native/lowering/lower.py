"""Regions without operations on whole arrays: each becomes the loops that compiled code runs.

    s = sum of x[i], i < n          s = 0.0
                                    for all i < n: s = s + x[i]

Compiled code is differentiated from these loops: the way back knows which element was the largest,
where NumPy would compare all of them again.
"""

from __future__ import annotations

from dataclasses import replace

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.lowering import counting, extrema, sums
from mooncake_py.compiler.native.lowering.operands import Operands
from mooncake_py.compiler.native.regions.region import BOOL, INT, NativeRegion
from mooncake_py.compiler.regions.ir import (
    Block,
    Places,
    Reduce,
    Statement,
    statements,
    with_blocks,
)
from mooncake_py.compiler.regions.wholes import CUMULATIVE, SUMS

__all__ = ["as_loops", "lowered"]


def lowered(region: NativeRegion) -> NativeRegion:
    """Return a region without `Reduce` and `Places`."""
    if not any(isinstance(s, Reduce | Places) for s in statements(region.body)):
        return region
    lowering = _Lowering(dict(region.kinds), dict(region.arrays))
    body = lowering.block(region.body)
    return replace(region, body=body, kinds=lowering.b.kinds, arrays=lowering.b.arrays)


def as_loops(s: Reduce | Places, kinds: dict[str, str], arrays: dict[str, int]) -> Block:
    """Return an operation as loops; what these bind is added to kinds and arrays."""
    return tuple(_Lowering(kinds, arrays).loops(s))


class _Lowering:
    """Goes through the blocks of a region."""

    def __init__(self, kinds: dict[str, str], arrays: dict[str, int]) -> None:
        self.b = Builder()
        self.b.kinds, self.b.arrays = kinds, arrays
        self.b.count = max((int(n) for n in map(number_in, kinds) if n), default=0)

    def block(self, block: Block) -> Block:
        """Return a block with loops in the place of operations on whole arrays."""
        result: list[Statement] = []
        for s in block:
            if isinstance(s, Reduce | Places):
                result += self.loops(s)
            else:
                result.append(with_blocks(s, self.block))
        return tuple(result)

    def loops(self, s: Reduce | Places) -> list[Statement]:
        """Return an operation as loops."""
        b = self.b
        b.place = s.place
        with b.within() as block:
            if isinstance(s, Places):
                counting.places(b, s)
            else:
                reduce(b, Operands(s, b.kinds))
        return block


def number_in(name: str) -> str:
    """Return the digits of a name as the builder makes them, empty if it is another one."""
    digits = name[1:]
    return digits if digits.isdecimal() else ""


def reduce(b: Builder, o: Operands) -> None:
    """Add the loops of an operation along axes."""
    op = o.s.op
    if o.kind == BOOL or op == "count" or (op in SUMS and o.kind == INT):
        counting.gathered(b, o)
    elif op in SUMS:
        sums.added_up(b, o)
    elif op in CUMULATIVE:
        sums.cumulated(b, o)
    elif op == "prod":
        sums.multiplied(b, o)
    elif op in ("argmax", "argmin"):
        extrema.place(b, o)
    else:
        extrema.value(b, o)
