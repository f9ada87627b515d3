"""What printed text calls, as plain Python and compiled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from mooncake_py.compiler.native.printing.called import compilable
from mooncake_py.compiler.native.printing.emit_expressions import Expressions
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.regions.ir import Const, Name, Op

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


def compiled() -> Callable[[float, float], float]:
    pytest.importorskip("numba")
    return compilable(np.hypot)


@pytest.mark.parametrize("of", [lambda: helpers.hypot, compiled], ids=["plain", "compiled"])
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


def plainly(n: int) -> Callable[[float], float]:
    return lambda x: helpers.half_power(np.float64(x), n)


def by_numba(n: int) -> Callable[[float], float]:
    numba = pytest.importorskip("numba")
    power = compilable(helpers.half_power)
    return numba.njit(error_model="numpy")(lambda x: power(x, n))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("of", [plainly, by_numba])
@pytest.mark.parametrize("n", [-4, -2, -1, 0, 1, 3])
def test_half_integer_powers(of: Callable[[int], Callable[[float], float]], n: int) -> None:
    power, rng = of(n), np.random.default_rng(0)
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
    printed = Expressions({"n": "int"})
    texts = {p: printed.text(Op("pow", (Name("x"), Const(p)))) for p in (-1.5, 0.5, 4.5, 2, 0.25)}
    assert texts == {
        -1.5: "f_half_power(x, -2)", 0.5: "f_half_power(x, 0)", 4.5: "x ** 4.5", 2: "x ** 2",
        0.25: "x ** 0.25",
    }  # fmt: skip
    assert printed.text(Op("pow", (Name("n"), Const(0.5)))) == "float(n) ** 0.5"
