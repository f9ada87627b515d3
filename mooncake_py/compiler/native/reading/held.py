"""Numbers that have no derivative, though they come of others that have one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Number, Unfit, Value
from mooncake_py.compiler.native.regions.helpers import as_bits, as_int
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Call

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["held", "read_held"]


def held(x: float) -> float:
    """Return a float, through which no derivative flows: for text that is read."""
    return x


def read_held(r: ExpressionReader, args: Sequence[Value], given: Mapping[str, Value]) -> Value:
    """Read ``held(x)``: the bits of the float are an int for a while, and ints have none."""
    (x,) = args
    if not isinstance(x, Number) or x.kind != FLOAT or x.narrow:
        raise Unfit(f"{said(x)} in place of a float", r.b.place)
    bits = r.b.counted(Call(as_int, (x.e,), place=r.b.place))
    return replace(x, e=r.b.number(Call(as_bits, (bits,), place=r.b.place)))
