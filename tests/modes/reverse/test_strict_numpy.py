"""Where NumPy is set to raise, it raises for the arithmetic of the program, not of the engine."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, hvp, jvp, value_and_grad
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes(
    "NumPy is told to raise, and does for other numbers", "other", "inside"
)

MODES = {
    "grad": lambda f, x: value_and_grad(f)(x),
    "jvp": lambda f, x: jvp(f, (x,), (np.ones_like(x),)),
    "hvp": lambda f, x: (hvp(f, (x,), np.ones_like(x)),),
    "checkpoint": lambda f, x: value_and_grad(lambda x: checkpoint(f, x))(x),
}
FUNCTIONS = {
    "exp of a large number": (lambda x: np.sum(np.exp(x)), [700.0, 0.5]),
    "exp of a small number": (lambda x: np.sum(np.exp(x)), [-700.0, 0.5]),
    "root of a tiny number": (lambda x: np.sum(np.sqrt(x)), [1e-310, 0.5]),
    "cosine of a tiny number": (lambda x: np.sum(np.cos(x)), [1e-310, 0.5]),
    "large multiple": (lambda x: np.sum(x * 1e200) * 1e-200, [3.0, 0.5]),
    "large quotient": (lambda x: np.sum(x / 1e-200) * 1e-200, [3.0, 0.5]),
    "difference of large numbers": (lambda x: np.sum(x * 1e200 - x[::-1] * 1e200), [3.0, 0.5]),
    "large product of matrices": (
        lambda x: np.sum(np.outer(x, x) @ (x * 1e200)) * 1e-200,
        [3.0, 0.5],
    ),
    "large element": (lambda x: (x[0] * 1e200 + x[1]) * 1e-200, [3.0, 0.5]),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "mode"), rotating(FUNCTIONS, MODES, times=2))
def test_what_the_plain_call_does_not_raise_is_not_raised(name, mode):
    f, point = FUNCTIONS[name]
    x, run = np.array(point), MODES[mode]
    with np.errstate(all="ignore"):
        expected = run(f, x.copy())

    def strict(x):
        with np.errstate(all="raise"):
            return f(x)

    strict(x.copy())
    with np.errstate(all="raise"):
        outside = run(f, x.copy())
    for found in (run(strict, x.copy()), outside):
        for a, b in zip(found, expected, strict=True):
            assert_allclose(a, b, rtol=1e-13, atol=0)
