"""What printed text calls, as plain Python and compiled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from mooncake_py.compiler.native.printing.called import compilable
from mooncake_py.compiler.native.regions import helpers

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
