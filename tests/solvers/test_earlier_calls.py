"""Callbacks of solvers that read what their last call has stored, perhaps an earlier plain one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

from mooncake_py import checkpoint, grad, hvp, jvp, prepare, value_and_grad  # noqa: E402

P = np.array([1.3, 0.7])
CUBE = np.cbrt(2 * P) / (3 * P) * [1.0, 2.0]  # the gradient of cbrt(2 p) @ [1, 2]

HELD: Any = None
SOLUTIONS: dict[int, Any] = {}


def of_attribute() -> Callable[[Any], Any]:
    o = SimpleNamespace(q=None)

    def swap(new: Any) -> Any:
        old, o.q = o.q, new
        return old

    return swap


def of_dict() -> Callable[[Any], Any]:
    held: dict[str, Any] = {}

    def swap(new: Any) -> Any:
        old = held.get("q")
        held["q"] = new
        return old

    return swap


def of_list() -> Callable[[Any], Any]:
    held: list[Any] = []

    def swap(new: Any) -> Any:
        held.append(new)
        return held[-2] if len(held) > 1 else None

    return swap


def of_buffer() -> Callable[[Any], Any]:
    buffer = np.zeros(2)

    def swap(new: Any) -> Any:
        old = buffer.copy()
        buffer[:] = new
        return old if old.any() else None

    return swap


def of_variable() -> Callable[[Any], Any]:
    held = None

    def swap(new: Any) -> Any:
        nonlocal held
        old, held = held, new
        return old

    return swap


def of_global() -> Callable[[Any], Any]:
    global HELD
    HELD = None

    def swap(new: Any) -> Any:
        global HELD
        old, HELD = HELD, new
        return old

    return swap


def of_dict_made_anew() -> Callable[[Any], Any]:
    o: Any = SimpleNamespace(state={})

    def swap(new: Any) -> Any:
        old = o.state.get("q")
        o.state = {"q": new}
        return old

    return swap


STORES = [of_attribute, of_dict, of_list, of_buffer, of_variable, of_global, of_dict_made_anew]


def last_or(swap: Any, q: Any) -> Any:
    old = swap(q)
    return q if old is None else old


def roots(swap: Any) -> Callable[[Any], Any]:
    def f(p: Any) -> Any:
        x = optimize.fsolve(lambda x: x**3 - last_or(swap, 2 * p), [1.0, 1.0], xtol=1e-13)
        return x @ [1.0, 2.0]

    return f


def root_of_first(solve: Any) -> Any:
    def f(swap: Any, p: Any) -> Any:
        return solve(lambda x: x**3 - last_or(swap, 2 * p[0] * np.ones(2))[0])

    return f


def slope_of_minimum(swap: Any, p: Any) -> Any:
    def value(x: Any) -> Any:
        return np.sum((x - 2 * p) ** 2)

    def slope(x: Any) -> Any:
        return 2 * (x - last_or(swap, 2 * p))

    return optimize.minimize(value, [1.0, 1.0], jac=slope, tol=1e-9).x @ [1.0, 2.0]


def stored_by_observer(swap: Any, p: Any) -> Any:
    def value(x: Any) -> Any:
        q = swap(None)
        swap(q)
        d = x - (2 * p if q is None else q)
        return d @ d, 2 * d

    found = optimize.minimize(
        value, [1.0, 1.0], jac=True, callback=lambda x: (swap(2 * p), None)[1], tol=1e-9
    )
    return found.x @ [1.0, 2.0]


def with_keywords(swap: Any, p: Any) -> Any:
    def errors(x: Any, scale: Any = None) -> Any:
        return x - last_or(swap, 2 * p * scale)

    found = optimize.least_squares(
        errors, [1.0, 1.0], kwargs={"scale": p[1]}, xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    return found.x[0]


def from_last_solution(swap: Any, p: Any) -> Any:
    keep = SOLUTIONS.setdefault(id(swap), {"x": [1.0, 1.0]})
    keep["x"] = optimize.fsolve(lambda x: x**3 - last_or(swap, 2 * p), keep["x"], xtol=1e-13)
    return keep["x"] @ [1.0, 2.0]


def decay(swap: Any, p: Any) -> Any:
    rate: Any = lambda y, t: -y * last_or(swap, 2 * p)[0]  # noqa: E731
    return integrate.odeint(rate, p[1], [0.0, 0.3], rtol=1e-9, atol=1e-9)[-1, 0]


def integral(swap: Any, p: Any) -> Any:
    return integrate.quad(lambda x: (1 + x) * last_or(swap, 2 * p)[0], 0.0, p[1])[0]


E_ = np.exp(-2 * P[0] * 0.3)
SOLVERS: list[tuple[Any, Any]] = [
    (root_of_first(lambda r: optimize.brentq(r, 0.0, 3.0, xtol=1e-13)), [CUBE[0], 0.0]),
    (root_of_first(lambda r: optimize.newton(r, 1.0, tol=1e-13)), [CUBE[0], 0.0]),
    (
        root_of_first(
            lambda r: (
                optimize.minimize_scalar(
                    lambda x: r(x) ** 2, bounds=(0.1, 3), method="bounded", options={"xatol": 1e-10}
                ).x
            )
        ),
        [CUBE[0], 0.0],
    ),
    (slope_of_minimum, [2.0, 4.0]),
    (stored_by_observer, [2.0, 4.0]),
    (with_keywords, [2 * P[1], 2 * P[0]]),
    (from_last_solution, CUBE),
    (decay, [-0.6 * P[1] * E_, E_]),
    (integral, [2 * P[1] + P[1] ** 2, 2 * P[0] * (1 + P[1])]),
]


@pytest.mark.parametrize("make", STORES)
def test_places_that_an_earlier_call_has_filled(make: Any) -> None:
    f = roots(make())
    for _ in range(2):
        value, slope = value_and_grad(f)(P)
        np.testing.assert_allclose(slope, CUBE, rtol=1e-6)
        assert value == f(P)


@pytest.mark.parametrize(("solve", "right"), SOLVERS)
@pytest.mark.parametrize("nearby", [1.0, 1 + 1e-7])
def test_solvers(solve: Any, right: Any, nearby: float) -> None:
    swap = of_dict()

    def f(p: Any) -> Any:
        return solve(swap, p)

    f(P * nearby)
    np.testing.assert_allclose(grad(f)(P), right, rtol=1e-5, atol=1e-7)
    v = np.array([0.3, -0.8])
    assert jvp(f, (P,), (v,))[1] == pytest.approx(v @ np.array(right), rel=1e-5)


def test_modes() -> None:
    f = roots(of_attribute())
    f(P)
    v = np.array([0.3, -0.8])
    np.testing.assert_allclose(grad(f, debug=True)(P), CUBE, rtol=1e-6)
    np.testing.assert_allclose(grad(f, compile=True)(P), CUBE, rtol=1e-6)
    np.testing.assert_allclose(grad(lambda p: checkpoint(f, p))(P), CUBE, rtol=1e-6)
    np.testing.assert_allclose(prepare(grad, f, P)(P), CUBE, rtol=1e-6)
    np.testing.assert_allclose(hvp(f, (P,), v), -2 / 3 * CUBE / P * v, rtol=1e-5)


def test_the_very_number_that_an_earlier_call_has_stored() -> None:
    swap = of_dict()

    def f(p: Any) -> Any:
        return optimize.brentq(lambda x: x**3 - last_or(swap, p), 0.0, 3.0, xtol=1e-13)

    p = 1.3
    f(p)
    assert grad(f)(p) == pytest.approx(np.cbrt(p) / (3 * p))
