"""Forward mode of rules by pullback that return a number: one pullback of 1 is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import from_vjp, grad, hvp, jvp, local_rules
from tests.support.directions import check_jvp

X = np.array([0.3, -1.2, 0.7, 0.5])


def energy(x: Any, w: Any) -> float:
    return float(np.dot(x, x) * w)


@pytest.fixture
def pulled():
    """List the cotangents of a rule by pullback."""
    seen: list[Any] = []
    with local_rules():

        @from_vjp(energy)
        def energy_rule(x, w):
            def pullback(dy):
                seen.append(dy)
                return 2.0 * w * dy * x, dy * np.dot(x, x)

            return energy(x, w), pullback

        yield seen


@pytest.mark.plain
def test_the_pullback_runs_once(pulled):
    value, tangent = jvp(energy, (X, 0.5), (np.ones(4), 2.0))
    assert value == energy(X, 0.5)
    assert_allclose(tangent, np.sum(X) + 2.0 * np.dot(X, X), rtol=1e-14)
    assert pulled == [1.0]


def test_second_derivatives_go_through_it(pulled):
    found = hvp(lambda x: energy(x, 0.5) ** 2, (X,), np.ones(4))
    expected = 2.0 * X * np.sum(X) + 2.0 * energy(X, 0.5)
    assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        np.linalg.norm,
        lambda x: np.linalg.norm(x, 3),
        lambda x: np.var(x * x),
        lambda x: np.std(x, ddof=1),
        lambda x: np.median(x) * np.ptp(x),
        lambda x: np.linalg.det(np.outer(x, x) + np.eye(4)),
        lambda x: np.linalg.norm(np.outer(x, x) + np.eye(4), 2),
        lambda x: np.trapezoid(x, dx=0.5) if hasattr(np, "trapezoid") else np.sum(x),
    ],
)
@pytest.mark.without_modes("tangents are compared bit for bit", "compiled")
def test_functions_that_return_numbers(f):
    check_jvp(f, X)


def test_a_zero_stays_zero_beside_what_is_not_finite():
    def f(x):
        return np.linalg.norm(x[:2]) + np.sum(x[2:])

    x, along = np.array([0.0, 0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 1.0])
    assert jvp(f, (x,), (along,))[1] == 2.0
    assert np.sum(grad(f)(x) * along) == 2.0
