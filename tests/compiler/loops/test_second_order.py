"""Second derivatives of loops that call functions of two numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp
from mooncake_py.compiler.derivatives.partials import formulas
from mooncake_py.compiler.regions.ir import Call, walk
from tests.compiler.comparing import agrees, equals_reference
from tests.programs.comparing import function_of

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
V = np.array([1.0, -0.5, 0.2, 0.3, 2.0])
CALLS = [
    "math.hypot(x[i], s)", "math.atan2(x[i], s)", "math.hypot(x[i], 2.0)", "math.atan2(2.0, x[i])",
    "np.hypot(x[i], s)", "np.arctan2(x[i], s)", "math.pow(abs(x[i]), s)", "math.fmod(s, x[i])",
    "math.copysign(s, x[i])", "np.power(abs(x[i]), a)", "math.log(2 + x[i], 3.0 + a)",
    "np.maximum(x[i], s) * s", "math.hypot(math.hypot(x[i], a), s)", "abs(x[i]) ** s", "s % x[i]",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize("call", CALLS)
def test_functions_of_two_numbers(call):
    f = function_of(
        "import math\nimport numpy as np\n"
        f"def f(x, a):\n    s = 0.5\n    for i in range(5):\n        s += 0.3 * {call}\n"
        "    return s * s\n",
        f"<second order {call}>",
    )
    agrees(f, X, 0.6)
    g = grad(f)
    assert_allclose(jvp(f, (X, 0.6), (V, None))[1], g(X, 0.6) @ V, rtol=1e-12)
    h = 1e-6
    expected = (g(X + h * V, 0.6) - g(X - h * V, 0.6)) / (2 * h)
    assert_allclose(hvp(f, (X, 0.6), V), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", [math.hypot, math.atan2, np.hypot, np.arctan2])
def test_partials_are_made_of_what_has_partials(f):
    todo = [f]
    for _ in range(3):
        todo = [
            part.function
            for function in todo
            for p in formulas(function, (None, None)) or [pytest.fail(str(function))]
            if p is not None
            for part in walk(p)
            if isinstance(part, Call)
        ]


def test_at_the_origin_slopes_are_zero():
    def f(x):
        s = 0.0
        for i in range(5):
            s += math.hypot(x[i], x[i - 1]) * x[2] + math.atan2(x[i], x[i - 1])
        return s

    equals_reference(f, np.array([0.0, 0.0, 0.5, 0.2, 1.0]))
