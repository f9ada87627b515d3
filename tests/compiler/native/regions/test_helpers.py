"""What printed text calls, as plain Python and compiled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.regions.ir import Assign, Call, Const, Expr, Name, Op
from tests.support.interpreted import QUICKLY

EMPTY = np.empty(0)
SPECIAL = (
    0.0,
    -0.0,
    1.5,
    -2.0,
    5e-324,
    1e-170,
    1e-140,
    1e140,
    1e160,
    math.inf,
    -math.inf,
    math.nan,
)


def compiled(e: Expr, kinds: dict[str, str] | None = None) -> Callable[..., float]:
    """Return a function of `x`, or of `x` and `y`, that LLVM compiles."""
    pytest.importorskip("llvmlite")
    printer = Printer(kinds or {}, {})
    printer.forward((Assign(Name("s"), e),), ["x", "y"], ["s"])
    forward = QUICKLY.built(printer)["forward"]
    return lambda x, y=0.0: forward(EMPTY, x, y)[-1]


def hypot_by_llvm() -> Callable[..., float]:
    return compiled(Call(np.hypot, (Name("x"), Name("y"))))


@pytest.mark.parametrize("of", [lambda: helpers.hypot, hypot_by_llvm], ids=["plain", "compiled"])
def test_hypot_is_that_of_math_but_for_rounding(of: Callable[[], Callable[..., float]]) -> None:
    hypot, rng = of(), np.random.default_rng(0)
    pairs = rng.standard_normal((500, 2)) * 10.0 ** rng.integers(-160, 160, (500, 1))
    for x, y in [*itertools.product(SPECIAL, SPECIAL), *pairs.tolist()]:
        expected = math.hypot(x, y)
        found = hypot(x, y)
        assert (
            found == expected or math.isnan(expected) or abs(found - expected) <= math.ulp(expected)
        )
        assert math.isnan(found) == math.isnan(expected)
    for x, y in ((3.0, 4.0), (1.2, 1.6), (2.0, 0.0), (0.0, -2.0)):
        assert hypot(x, y) == math.hypot(x, y)


def by_llvm(n: int) -> Callable[[float], float]:
    return compiled(Op("pow", (Name("x"), Const(n + 0.5))))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("n", [-4, -2, -1, 0, 1, 3])
def test_half_integer_powers(n: int) -> None:
    power, rng = by_llvm(n), np.random.default_rng(0)
    numbers = rng.uniform(0.5, 2.0, 300) * 10.0 ** rng.integers(-150, 150, 300)
    with np.errstate(all="ignore"):
        for x in [*SPECIAL, *numbers.tolist()]:
            found, expected = power(x), np.float64(x) ** (n + 0.5)
            exact = not math.isfinite(expected) or expected == 0.0
            assert (
                repr(float(found)) == repr(float(expected))
                if exact
                else (abs(found - expected) <= 4 * np.spacing(expected))
            )


def test_powers_are_printed_as_roots() -> None:
    def calls_pow(n: float, kind: str = "float") -> bool:
        printer = Printer({"x": kind}, {})
        printer.forward((Assign(Name("s"), Op("pow", (Name("x"), Const(n)))),), ["x"], ["s"])
        forward = printer.text[printer.text.index("@mc_forward") :]
        return "call double @llvm.pow" in forward

    assert [n for n in (-1.5, 0.5, 4.5, 2, 0.25) if calls_pow(n)] == [4.5, 0.25]
    assert calls_pow(0.5, "int")
