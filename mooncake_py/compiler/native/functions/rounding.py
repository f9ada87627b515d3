"""``round`` and ``np.round``, whose derivative is zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import Given, Reader, arranged, written
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Number, Unfit, Value
from mooncake_py.compiler.native.regions.region import BOOL, INT, REAL
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Op

__all__ = ["ROUNDING", "rounded"]


def to_int(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``round(x)``, of a number that is not too large for an int."""
    x = args[0] if len(args) == 1 and not given else None
    if not isinstance(x, Number) or x.kind == BOOL:
        raise Unfit(f"`round` of {said(*args)}: use one number, without digits", b.place)
    if x.kind == INT:
        return operations.int_of_python(b, x)
    operations.require_rounded(b, x)
    return Number(Op("int", (Call(np.rint, (x.e,), place=b.place),), place=b.place), "int")


def rounded(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.round(a, decimals)`` of floats."""
    a, decimals = arranged(b, args, given, "a decimals")
    digits = 0 if decimals is None else written(b, decimals)
    if not isinstance(a, Number | Array) or a.kind not in REAL or type(digits) is not int:
        raise Unfit(
            f"np.round of {said(a)}: use floats, and a constant number of decimals", b.place
        )
    operations.require_all_rounded(b, a)
    power = Const(10.0 ** abs(digits))
    before, after = ("mul", "truediv") if digits > 0 else ("truediv", "mul")

    def nearest(e: Expr) -> Expr:
        if digits == 0:
            return Call(np.rint, (e,), place=b.place)
        scaled = Call(np.rint, (Op(before, (e, power)),), place=b.place)
        return Op(after, (scaled, power))

    return operations.on_floats(b, nearest, [a])


ROUNDING: dict[Any, Reader] = {round: to_int, np.round: rounded, np.around: rounded}
