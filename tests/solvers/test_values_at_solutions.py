"""Values of a function at its solution: those of the plain call, or an error that says why."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, jvp, stop_gradient, value_and_grad

optimize = pytest.importorskip("scipy.optimize")

P = np.array([1.3, 0.7])


def number() -> float:
    """Return another number each time: nothing puts the clock back."""
    return math.sin(1e6 * time.perf_counter())


def quadratic(p: Any, noise: Callable[[], float]) -> Any:
    return optimize.minimize(
        lambda x: np.sum((x - p) ** 2) + 1e-6 * p[0] * noise(),
        np.zeros(2),
        jac=lambda x: 2 * (x - p),
    ).fun


def squares(p: Any, noise: Callable[[], float]) -> Any:
    return optimize.least_squares(
        lambda x: np.append(x - p, 1e-3 * noise()), np.zeros(2), jac=lambda x: np.eye(3, 2)
    ).cost


@pytest.mark.parametrize("f", [quadratic, squares])
def test_another_value_is_refused(f: Any) -> None:
    for derive in (value_and_grad, lambda f: lambda p: jvp(f, (p,), (p,))):
        with pytest.raises(SolverError, match="has another value at the solution"):
            derive(lambda p: f(p, number))(P)


def with_exact_data(p: Any) -> Any:
    t = np.linspace(0, 1, 5)
    return optimize.least_squares(
        lambda x: x[0] * np.exp(x[1] * t) - p[0] * np.exp(p[1] * t), np.ones(2),
        xtol=1e-15, ftol=1e-15, gtol=1e-15,
    ).cost  # fmt: skip


def with_terms_that_cancel(p: Any) -> Any:
    return optimize.minimize(
        lambda x: np.sum([1e8, 1.0] * (x**2 - 2 * x * p + p**2)), np.zeros(2)
    ).fun


def with_alternating_values(p: Any) -> Any:
    calls: list[int] = []

    def errors(x: Any) -> Any:
        calls.append(1)
        return np.append(x - p, 1.0 + len(calls) % 2 * 1e-12)

    return optimize.least_squares(errors, np.zeros(2), jac=lambda x: np.eye(3, 2)).cost


@pytest.mark.without_modes("of terms that cancel the derivatives are rounding")
@pytest.mark.parametrize("f", [with_exact_data, with_terms_that_cancel, with_alternating_values])
def test_values_that_differ_by_rounding_are_those_of_the_plain_call(f: Any) -> None:
    value, g = value_and_grad(f)(P)
    assert value == f(P)
    np.testing.assert_allclose(g, 0.0, atol=1e-6)


# Layout.


def fit(p: Any) -> Any:
    return optimize.least_squares(lambda x: np.append(x - p, 0.3 * x[0] * x[1]), [0.2, 0.1])


def by_cobyla(p: Any) -> Any:
    return optimize.minimize(lambda x: np.sum((x - p) ** 2), [0, 0.1], method="COBYLA", tol=1e-8)


@pytest.mark.parametrize("solve", [fit, by_cobyla])
def test_arrays_lie_in_memory_as_in_the_plain_call(solve: Any) -> None:
    def f(p: Any) -> Any:
        found = solve(p)
        layout = {
            name: (a.strides, a.flags.c_contiguous, a.flags.f_contiguous)
            for name, a in found.items()
            if isinstance(a, np.ndarray)
        }
        weights = stop_gradient(found.get("jac", np.ones((3, 2)))).ravel(order="K")
        return found.x @ weights[:2] + weights[2] * found.x[0], layout

    (value, layout), g = value_and_grad(f, has_aux=True)(P)
    assert (value, layout) == f(P)
    assert np.all(np.isfinite(g))
