"""Minima in many variables: products of the Hessian give what the matrix gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, debug_mode, grad, hvp, jvp, value_and_grad

pytest.importorskip("scipy")
from scipy import optimize as so

from mooncake_py.integrations.scipy.solvers import minima
from tests.support.marks import each_second

N = 4
A = np.random.default_rng(0).normal(size=N)
V = np.cos(3 * np.arange(N))
COEFFICIENTS = 1 + np.arange(N) / N
TIGHT = {"gtol": 1e-11, "ftol": 0, "maxiter": 10000}


def energy(x: Any, a: Any) -> Any:
    stretch = 0.3 * np.sum((x[1:] - x[:-1]) ** 2)
    return np.sum(COEFFICIENTS * (x - a) ** 2) / 2 + 0.05 * np.sum(x**4) + stretch


def lowest(cost: Callable[[Any], Any], bounds: Any = None) -> Any:
    return so.minimize(
        cost, np.zeros(N), jac=grad(cost), method="L-BFGS-B", bounds=bounds, options=TIGHT
    ).x


def captured(a: Any) -> Any:
    p = a[0]
    return lowest(lambda x: energy(x, a) * (1 + p * p) + p * x[3] ** 2)


def with_bounds(a: Any) -> Any:
    return lowest(lambda x: energy(x, a), so.Bounds(-0.1 - 0.1 * a[0] ** 2, np.inf))


def overwritten(a: Any) -> Any:
    """What the function reads is written after the solution."""
    w = a * 2.0
    x = lowest(lambda x: energy(x, w))
    w[:] = 3.0
    return x * w


def choice_overwritten(a: Any) -> Any:
    """So is what a record of the gradient does not refer to."""
    choice = np.ones(1)

    def gradient(x: Any) -> Any:
        return (2.0 if choice[0] > 0 else COEFFICIENTS) * (x - a)

    x = so.minimize(lambda x: np.sum((x - a) ** 2), np.zeros(N), jac=gradient).x
    choice[0] = -1.0
    return x * COEFFICIENTS


def least(a: Any) -> Any:
    return so.least_squares(
        lambda x: np.append(x - a, 0.3 * x**2 + a), np.zeros(N), ftol=1e-15, xtol=1e-15, gtol=1e-15
    ).x


PROGRAMS = [captured, with_bounds, overwritten, choice_overwritten, least]


def derivatives(solution: Callable[[Any], Any]) -> list[Any]:
    def f(a: Any) -> Any:
        return np.sum(solution(a) ** 2 * np.cos(np.arange(N)))

    def slope(a: Any) -> Any:
        return grad(f)(a) @ V

    with debug_mode():
        checked = grad(f)(A)
    return [
        *value_and_grad(f)(A), checked, jvp(f, (A,), (V,))[1], jvp(f, (A,), [(V,), (A,)])[1],
        hvp(f, (A,), V), grad(slope)(A),
    ]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.without_modes("they are as precise as the solver")
@pytest.mark.parametrize("solution", each_second(PROGRAMS), ids=lambda f: f.__name__)
def test_like_the_matrix(solution: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = derivatives(solution)
    monkeypatch.setattr(minima, "MANY", 2)
    for found, wanted in zip(derivatives(solution), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


def refusal(solution: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(minima, "MANY", 2)
    with pytest.raises(SolverError) as caught:
        grad(lambda a: np.sum(solution(a)))(A)
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    return str(caught.value)


def test_not_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    def early(a: Any) -> Any:
        return so.minimize(energy, np.zeros(N), a, jac=grad(energy), options={"maxiter": 1}).x

    assert "has not converged" in refusal(early, monkeypatch)


def test_no_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    def saddle(a: Any) -> Any:
        def cost(x: Any) -> Any:
            return np.sum((x - a) ** 2) - 10 * (x[0] - 1.001 * a[0]) ** 2

        return so.minimize(cost, a, jac=grad(cost), options={"maxiter": 0}).x

    assert "not positive definite" in refusal(saddle, monkeypatch)
