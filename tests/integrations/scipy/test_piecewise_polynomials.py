"""Piecewise polynomials of `scipy.interpolate` at no points, and at complex ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad

si = pytest.importorskip("scipy.interpolate")

X = np.array([0.5, 1.5])

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "no points": lambda x: np.sum(polynomial(x)(x[2:])) + x[0],
    "no points, trailing axes": lambda x: (
        np.sum(si.CubicSpline([0, 1, 2], np.outer([1, 2, 0], x))(x[2:])) + x[0]
    ),
    "no constant points": lambda x: np.sum(polynomial(x)(np.zeros(0))) + x[0],
    "a complex point": lambda x: polynomial(x)(x[0] + 1j * x[1]) * 1.0,
    "complex points": lambda x: np.sum(polynomial(x)(x * 1j + x[:1])),
}


def polynomial(x: Any) -> Any:
    return si.PPoly([[1.0, x[0]], [x[1], 2]], [0, 1, 2])


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name: str) -> None:
    f = PROGRAMS[name]
    value, g = value_and_grad(f)(X)
    assert value == f(X)
    expected = [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(g, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], np.dot(expected, X), rtol=1e-7)
