"""The hyperbolic tangent as arithmetic without branches, of which LLVM computes several at once.

That of the C library is a call for each number, and takes five times as long as NumPy's.
The rational functions are those of S. Moshier's Cephes library (for ``tanh`` and ``exp``);
the result is within two units in the last place.
"""

from __future__ import annotations

from mooncake_py.compiler.native.llvm.numbers import constant
from mooncake_py.compiler.native.llvm.texts import Helper, declared
from mooncake_py.compiler.native.regions.region import FLOAT

__all__ = ["TANH"]

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


class Lines:
    """Lines of text, each of which names what it computes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, text: str) -> str:
        self.lines.append(f"  %r{len(self.lines)} = {text}")
        return f"%r{len(self.lines) - 1}"

    def polynomial(self, e: str, factors: tuple[float, ...]) -> str:
        """Return a polynomial, by products and sums."""
        found = number(factors[0])
        for factor in factors[1:]:
            product = self(f"fmul double {found}, {e}")
            found = self(f"fadd double {product}, {number(factor)}")
        return found


def number(x: float) -> str:
    """Return a number as it is written down."""
    return constant(x, FLOAT)


def lines() -> list[str]:
    """Return the lines that compute the tangent of ``%x``."""
    do = Lines()
    a = do("call double @llvm.fabs.f64(double %x)")
    is_small = do(f"fcmp olt double {a}, {number(SMALL)}")

    square = do(f"fmul double {a}, {a}")
    cube = do(f"fmul double {a}, {square}")
    small_p = do(f"fmul double {cube}, {do.polynomial(square, SMALL_P)}")
    small_q = do.polynomial(square, SMALL_Q)

    # 1 - 2 / (exp(2 a) + 1)
    is_below = do(f"fcmp olt double {a}, {number(LARGE)}")
    least = do(f"select i1 {is_below}, double {a}, double {number(LARGE)}")
    twice = do(f"fmul double {number(2.0)}, {least}")
    scaled = do(f"fmul double {twice}, {number(LOG2_E)}")
    shifted = do(f"fadd double {scaled}, {number(SHIFT)}")
    n = do(f"fsub double {shifted}, {number(SHIFT)}")
    r = twice
    for part in LOG_2:
        product = do(f"fmul double {n}, {number(part)}")
        r = do(f"fsub double {r}, {product}")
    squared = do(f"fmul double {r}, {r}")
    odd = do(f"fmul double {r}, {do.polynomial(squared, EXP_P)}")
    even = do.polynomial(squared, EXP_Q)
    bits = do(f"bitcast double {shifted} to i64")
    last = do(f"shl i64 {bits}, {EXPONENT}")
    biased = do(f"add i64 {last}, {BIAS << EXPONENT}")
    power = do(f"bitcast i64 {biased} to double")
    under = do(f"fsub double {even}, {odd}")
    both = do(f"fadd double {even}, {odd}")
    product = do(f"fmul double {power}, {both}")
    over = do(f"fadd double {product}, {under}")

    minus = do(f"fmul double {number(-2.0)}, {under}")
    numerator = do(f"select i1 {is_small}, double {small_p}, double {minus}")
    denominator = do(f"select i1 {is_small}, double {small_q}, double {over}")
    quotient = do(f"fdiv double {numerator}, {denominator}")
    start = do(f"select i1 {is_small}, double {a}, double {number(1.0)}")
    y = do(f"fadd double {start}, {quotient}")
    y = do(f"call double @llvm.copysign.f64(double {y}, double %x)")
    is_nan = do("fcmp uno double %x, %x")
    y = do(f"select i1 {is_nan}, double %x, double {y}")
    return [*do.lines, f"  ret double {y}"]


HEAD = "define internal double @mc_tanh(double %x) alwaysinline nounwind {"
TANH = Helper("\n".join([HEAD, *lines(), "}", ""]), declared("llvm.fabs.f64", "llvm.copysign.f64"))
