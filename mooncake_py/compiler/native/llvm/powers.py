"""Powers of numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.llvm.numbers import REGISTER, constant
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Const, Expr

if TYPE_CHECKING:
    from mooncake_py.compiler.native.llvm.expressions import Expressions

__all__ = ["HALVES", "power"]

HALVES = frozenset({-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5})
"""The exponents of powers that are roots and products."""
SMALL, HUGE = 1e-80, 1e80
"""Between these they neither lose a digit nor overflow."""
LARGE = 0x10000
"""Exponents up to this one are so many products of squares."""


def power(to: Expressions, kind: str, base: Expr, n: Expr) -> str:
    """Return a power as a number of a kind."""
    exponent = n.value if isinstance(n, Const) else None
    if kind == to.kind(base) == FLOAT and type(exponent) is float and exponent in HALVES:
        return half_power(to, to.value(base), math.floor(exponent))
    if type(exponent) is int and abs(exponent) <= LARGE:
        return whole_power(to, kind, to.as_kind(base, kind), exponent)
    if kind == INT:
        args = [f"i64 {to.as_kind(e, INT)}" for e in (base, n)]
        return to.writer.helper("mc_int_power", "i64", *args)
    return to.writer.intrinsic("pow", kind, to.as_kind(base, kind), to.as_kind(n, kind))


def whole_power(to: Expressions, kind: str, x: str, n: int) -> str:
    """Return a power with a small exponent that is written down, by squares."""
    one = constant(1, kind)
    if n < 0 and kind == INT:  # of one and minus one alone it is not a fraction
        return to.writer.helper("mc_int_power", "i64", f"i64 {x}", f"i64 {n}")
    found: str | None = None
    left = abs(n)
    while left:
        if left & 1:
            found = x if found is None else to.binary("mul", kind, found, x)
        left >>= 1
        if left:
            x = to.binary("mul", kind, x, x)
    found = one if found is None else found
    return found if n >= 0 else to.binary("truediv", kind, one, found)


def half_power(to: Expressions, x: str, n: int) -> str:
    """Return ``x ** (n + 0.5)``: a root and products where nothing overflows."""
    do, t = to.writer.do, REGISTER[FLOAT]
    above = do(f"fcmp ogt {t} {x}, {constant(SMALL, FLOAT)}")
    below = do(f"fcmp olt {t} {x}, {constant(HUGE, FLOAT)}")
    near, far, end = (to.writer.fresh(hint) for hint in ("near", "far", "end"))
    to.writer.branch(do(f"and i1 {above}, {below}"), near, far)
    to.writer.begin(near)
    quick = to.writer.intrinsic("sqrt", FLOAT, x)
    for _ in range(max(n, -n - 1)):
        quick = do(f"fmul {t} {quick}, {x}")
    if n < 0:
        quick = do(f"fdiv {t} {constant(1.0, FLOAT)}, {quick}")
    to.writer.go(end)
    to.writer.begin(far)
    slow = to.writer.helper("mc_far_power", t, f"{t} {x}", f"{t} {constant(n + 0.5, FLOAT)}")
    to.writer.go(end)
    to.writer.begin(end)
    return to.writer.phi(t, (quick, near), (slow, far))
