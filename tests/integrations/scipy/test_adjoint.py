"""The continuous adjoint of `solve_ivp`: against the derivative of the steps, and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate

from mooncake_py import grad, hessian, jvp
from mooncake_py.errors import InvalidModeError, MissingRuleError, NestedDerivativeError
from mooncake_py.integrations.scipy.solvers.adjoint import solve_ivp

P = np.array([1.3, 0.2, 0.7, 0.5, -0.3, 0.1, 1.6])
ALONG = np.array([0.3, -0.8, 0.5, 1.1, -0.6, 0.4, -0.2])


def swing(t: Any, y: Any, k: Any, w: Any, *, name: str = "") -> Any:
    out = np.empty(2)
    out[0], out[1] = y[1], -k * y[0] - w[0] * y[1] + w[1] * np.sin(t)
    return out


def readings(p: Any, solver: Any, method: str, at_times: bool) -> Any:
    times = np.linspace(p[5], p[6], 4) if at_times else None
    found = solver(
        swing, (p[5], p[6]), p[3:5], method, times, args=(p[0], p[1:3]), rtol=1e-5, atol=1e-7
    )
    return np.sum(found.y[0] ** 2) + found.y[1, -1] if at_times else found.y[0, -1] + found.t[-1]


@pytest.mark.parametrize(("method", "at_times"), [("RK45", False), ("BDF", True), ("DOP853", True)])
def test_derivatives_are_those_of_the_steps(method: str, at_times: bool) -> None:
    expected = grad(readings)(P, integrate.solve_ivp, "RK45", at_times)
    p = P.copy()
    found = grad(readings)(p, solve_ivp, method, at_times)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(p, P)
    value, slope = jvp(lambda p: readings(p, solve_ivp, method, at_times), (P,), (ALONG,))
    assert value == readings(P, integrate.solve_ivp, method, at_times)
    np.testing.assert_allclose(slope, expected @ ALONG, rtol=1e-3)


def test_backwards_in_time_and_beside_constants() -> None:
    def cooled(rate: float) -> Any:
        slope = lambda t, y, rate, power, name: -rate * y**power  # noqa: E731
        return solve_ivp(slope, (1.0, 0.0), [1.0], args=(rate, 1, "air"), rtol=1e-9).y[0, -1]

    np.testing.assert_allclose(grad(cooled)(1.3), np.exp(1.3), rtol=1e-6)


@pytest.mark.plain
def test_a_jacobian_of_the_user_serves_newton_only() -> None:
    def decayed(rate: float, share: float) -> Any:
        return solve_ivp(
            lambda t, y, rate: -rate * y**2, (0.0, 1.0), [1.0], "BDF", args=(rate,),
            jac=lambda t, y, rate: np.diag(-share * 2.0 * rate * y), rtol=1e-5, atol=1e-7,
        ).y[0, -1]  # fmt: skip

    for share in (1.0, 0.9):
        np.testing.assert_allclose(grad(decayed)(1.3, share), -1.0 / 2.3**2, rtol=1e-3)


K = np.zeros(1)


def by_closure(k: Any) -> Any:
    return lambda t, y: -k * y


def by_global(k: Any) -> Any:
    K[0] = k
    return lambda t, y: -K[0] * y


@pytest.mark.parametrize("way", [by_closure, by_global])
@pytest.mark.parametrize("take", [grad, lambda f: lambda k: jvp(f, (k,), (1.0,))])
def test_captured_data_are_refused(way: Callable[..., Any], take: Any) -> None:
    with pytest.raises(MissingRuleError, match="captures"):
        take(lambda k: solve_ivp(way(k), (0.0, 1.0), [1.0]).y[0, -1])(1.3)


def test_what_has_no_derivative_is_refused() -> None:
    def cooled(rate: Any, args: Callable[..., Any] = lambda k: (k,), **options: Any) -> Any:
        slope = lambda t, y, k: -(k[0] if isinstance(k, list) else k) * y  # noqa: E731
        return solve_ivp(slope, (0.0, 1.0), [1.0], args=args(rate), **options).y[0, -1]

    with pytest.raises(MissingRuleError, match="args="):
        grad(cooled)(1.3, lambda k: ([k],))
    with pytest.raises(InvalidModeError, match="events"):
        grad(lambda k: cooled(k, events=lambda t, y, k: y[0]))(1.3)
    with pytest.raises(NestedDerivativeError, match="first order"):
        hessian(cooled)(1.3)
