"""Functions of `math` in compiled functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "math.hypot(x[0], y[0]) * math.hypot(x[1], 2, y[1]) + math.hypot(x[2])",
    "math.dist((x[0], 1.0), (y[0], y[1])) + math.log(4 + x[0], 3 + y[0])",
    "math.fsum([x[0], y[0] ** 2, 1]) * math.prod((x[1], 2, y[1])) + math.fsum(x)",
    "x[0] if math.isclose(y[0], y[0] + 1e-12) and not math.isclose(1, 1.1) else y[0]",
    "math.cbrt(x[0]) * y[0]",
]


@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    text = text.removeprefix("")
    f = function(text, "import math")
    agree(f)
    require_compiled(f, tried)


def test_no_length_has_no_slope(tried: list[bool]) -> None:
    def f(x, y):
        return math.hypot(x, y) + math.hypot(x, y, 0.0)

    plain, compiled = (value_and_grad(f, (0, 1), compile=way)(0.0, 0.0) for way in (False, True))
    np.testing.assert_equal(compiled, plain)
    assert tried == [True]
