"""Callbacks that call functions not known to compute only: their solver runs derived."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, jvp, value_and_grad

optimize = pytest.importorskip("scipy.optimize")

LOCAL = threading.local()
LOG = logging.Logger("of callbacks that lead anywhere")
LOG.addHandler(logging.NullHandler())
VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("variable")


def count() -> None:
    LOCAL.n = getattr(LOCAL, "n", 0) + 1


DOES: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "clock": time.perf_counter,
    "count": count,
    "log": lambda: LOG.warning("x"),
    "print": lambda: print("", end=""),
    "variable": lambda: VARIABLE.set(1),
}
TIGHT: Any = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


def fit(p: Any, does: Any) -> Any:
    return optimize.least_squares(lambda x: (does(), x * x - p)[1], [1.0, 1.0], **TIGHT).x @ p


def lowest(p: Any, does: Any) -> Any:
    return optimize.minimize(lambda x: (does(), np.sum((x - p) ** 2))[1], np.zeros(2)).x @ p


def zero(p: Any, does: Any) -> Any:
    return (
        optimize.root(
            lambda x: (does(), x * x - p)[1], np.ones(2), jac=lambda x: np.diag(2 * x), tol=1e-13
        ).x
        @ p
    )


P, V = np.array([1.0, 0.5]), np.array([0.1, 0.2])
SLOPES: dict[Any, Any] = {  # first and second derivatives with respect to each element
    fit: (lambda p: 1.5 * p**0.5, lambda p: 0.75 * p**-0.5),
    zero: (lambda p: 1.5 * p**0.5, lambda p: 0.75 * p**-0.5),
    lowest: (lambda p: 2 * p, lambda p: 2 + 0 * p),
}


@pytest.mark.parametrize("does", DOES)
@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_modes(f: Any, does: str) -> None:
    first, second = SLOPES[f]

    def g(p: Any) -> Any:
        return f(p, DOES[does])

    np.testing.assert_allclose(grad(g)(P), first(P), rtol=1e-6)
    np.testing.assert_allclose(jvp(g, (P,), (V,))[1], first(P) @ V, rtol=1e-6)
    np.testing.assert_allclose(hvp(g, (P,), V), second(P) * V, rtol=1e-6)


@pytest.mark.slow
def test_within_the_callback_of_another_solver() -> None:
    def f(p: Any, does: Any) -> Any:
        def inner(u: Any) -> Any:
            return lowest_of(u * p, does).sum()

        return optimize.minimize_scalar(
            lambda u: (inner(u) - 0.5) ** 2 + 0.01 * u**2, bracket=(0, 1), tol=1e-10
        ).x

    def lowest_of(q: Any, does: Any) -> Any:
        return optimize.minimize(
            lambda x: (does(), np.sum((x - q) ** 2))[1], np.zeros(2), options={"gtol": 1e-10}
        ).x

    s = P.sum()
    expected = (0.5 * (s**2 + 0.01) - s**2) / (s**2 + 0.01) ** 2  # of 0.5 s / (s^2 + 0.01)
    np.testing.assert_allclose(grad(lambda p: f(p, time.perf_counter))(P), expected, rtol=1e-4)


def test_a_callback_that_writes_into_the_argument() -> None:
    def f(state: Any) -> Any:
        def residual(x: Any) -> Any:
            time.perf_counter()
            state[1] = x
            return x * x - state[0]

        return optimize.brentq(residual, 0.0, 3.0, xtol=1e-13)

    state = np.ones(2)
    assert value_and_grad(f)(state)[0] == pytest.approx(1.0)
    np.testing.assert_allclose(grad(f)(state), [0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(jvp(f, (state,), (np.ones(2),))[1], 0.5)
    assert state.tolist() == [1.0, 1.0]
