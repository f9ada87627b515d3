"""The hyperbolic tangent as arithmetic without branches, of which LLVM computes several at once.

That of the C library is a call for each number, and takes five times as long as NumPy's.
The rational functions are those of S. Moshier's Cephes library (for ``tanh`` and ``exp``);
the result is within two units in the last place.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["emit_tanh"]

SMALL = 0.625
"""Below, ``tanh(a) = a + a**3 * P(a**2) / Q(a**2)``."""
LARGE = 22.0
"""From here on the result is 1."""
SMALL_P = (-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3)
SMALL_Q = (1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3)

# exp(n * log(2) + r) = 2**n * (Q(r**2) + r * P(r**2)) / (Q(r**2) - r * P(r**2))
EXP_P = (1.26177193074810590878e-4, 3.02994407707441961300e-2, 9.99999999999999999910e-1)
EXP_Q = (
    3.00198505138664455042e-6, 2.52448340349684104192e-3, 2.27265548208155028766e-1,
    2.00000000000000000009,
)  # fmt: skip
LOG2_E = 1.4426950408889634
LOG_2 = 6.93145751953125e-1, 1.42860682030941723212e-6
"""The logarithm of 2 in two parts, of which multiples of the first are exact."""
SHIFT = 1.5 * 2.0**52
"""A number so large that the last bits of what is added to it are those of an int."""
EXPONENT, BIAS = 52, 1023
"""Where the bits of the exponent of a float begin, and what stands there for 1."""


def emit_tanh(builder: Any, x: Any) -> Any:
    """Return the hyperbolic tangent of a number of LLVM's code, float64 or float32."""
    ir = import_module("llvmlite.ir")
    narrow, real, bits = x.type, ir.DoubleType(), ir.IntType(64)
    fused = ("contract",)

    def polynomial(e: Any, factors: tuple[float, ...]) -> Any:
        found = real(factors[0])
        for factor in factors[1:]:
            found = builder.fadd(builder.fmul(found, e, fused), real(factor), fused)
        return found

    def below(e: Any, limit: float) -> Any:
        return builder.fcmp_ordered("<", e, real(limit))

    def of_llvm(name: str, *args: Any) -> Any:
        made = ir.FunctionType(real, [real] * len(args))
        return builder.call(builder.module.declare_intrinsic(name, [real], made), args)

    if narrow != real:
        x = builder.fpext(x, real)
    a = of_llvm("llvm.fabs", x)
    is_small = below(a, SMALL)

    square = builder.fmul(a, a)
    cube = builder.fmul(a, square)
    small = builder.fmul(cube, polynomial(square, SMALL_P)), polynomial(square, SMALL_Q)

    # 1 - 2 / (exp(2 a) + 1)
    twice = builder.fmul(real(2.0), builder.select(below(a, LARGE), a, real(LARGE)))
    shifted = builder.fadd(builder.fmul(twice, real(LOG2_E)), real(SHIFT))
    n = builder.fsub(shifted, real(SHIFT))
    r = twice
    for part in LOG_2:
        r = builder.fsub(r, builder.fmul(n, real(part)), fused)
    odd = builder.fmul(r, polynomial(builder.fmul(r, r), EXP_P))
    even = polynomial(builder.fmul(r, r), EXP_Q)
    last = builder.shl(builder.bitcast(shifted, bits), bits(EXPONENT))
    power = builder.bitcast(builder.add(last, bits(BIAS << EXPONENT)), real)
    under = builder.fsub(even, odd)
    over = builder.fadd(builder.fmul(power, builder.fadd(even, odd), fused), under, fused)

    numerator = builder.select(is_small, small[0], builder.fmul(real(-2.0), under))
    denominator = builder.select(is_small, small[1], over)
    quotient = builder.fdiv(numerator, denominator)
    y = builder.fadd(builder.select(is_small, a, real(1.0)), quotient)
    y = of_llvm("llvm.copysign", y, x)
    y = builder.select(builder.fcmp_unordered("uno", x, x), x, y)
    return y if narrow == real else builder.fptrunc(y, narrow)
