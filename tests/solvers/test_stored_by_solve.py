"""`implicit` with a residual that reads what the solver stores, or an earlier plain call."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, checkpoint, grad, hvp, implicit, jvp, prepare, value_and_grad

P = np.array([1.3, 0.7])
V = np.array([0.3, -0.8])
CUBE = np.cbrt(P) / (3 * P) * [1.0, 2.0]  # the gradient of cbrt(p) @ [1, 2]

HELD: Any = None
Program = Callable[[Any], Any]


def weighted(solve: Any, stored: Any) -> Program:
    root = implicit(solve, lambda x, q: x**3 - stored())
    return lambda p: root(p) @ [1.0, 2.0]


def by_attribute() -> Program:
    o = SimpleNamespace(q=None)
    return weighted(lambda q: (setattr(o, "q", q), np.cbrt(q))[1], lambda: o.q)


def by_dict() -> Program:
    held: dict[str, Any] = {}

    def solve(q: Any) -> Any:
        held["q"] = q * 1.0
        return np.cbrt(q)

    return weighted(solve, lambda: held["q"])


def by_list() -> Program:
    held: list[Any] = []
    return weighted(lambda q: (held.append(q), np.cbrt(q))[1], lambda: held[-1])


def by_buffer() -> Program:
    buffer = np.zeros(2)

    def solve(q: Any) -> Any:
        buffer[:] = q
        return np.cbrt(q)

    return weighted(solve, lambda: buffer)


def by_variable() -> Program:
    held: Any = None

    def solve(q: Any) -> Any:
        nonlocal held
        held = {"q": q * 1.0}
        return np.cbrt(q)

    return weighted(solve, lambda: held["q"])


def by_global() -> Program:
    def solve(q: Any) -> Any:
        global HELD
        HELD = q * 1.0
        return np.cbrt(q)

    return weighted(solve, lambda: HELD)


def by_attribute_with_table() -> Program:
    """Newton's method, of which the residual keeps a part in a table of points."""
    o: Any = SimpleNamespace()

    def residual(x: Any, q: Any) -> Any:
        key = tuple(x)
        if key not in o.cubes:
            o.cubes[key] = x**3
        return o.cubes[key] - o.q

    def solve(q: Any) -> Any:
        o.q, o.cubes = q * 1.0, {}
        x: Any = np.ones(2)
        while np.abs(r := residual(x, q)).max() > 1e-13:
            x = x - r / (3 * x**2)
        return x

    root = implicit(solve, residual)
    return lambda p: root(p) @ [1.0, 2.0]


STORES = [by_attribute, by_dict, by_list, by_buffer, by_variable, by_global,
          by_attribute_with_table]  # fmt: skip


@pytest.mark.parametrize("make", STORES)
@pytest.mark.parametrize("earlier", [None, 1.0, 1 + 1e-7, 1.5])
def test_places(make: Any, earlier: float | None) -> None:
    f = make()
    if earlier is not None:
        f(P * earlier)
    value, slope = value_and_grad(f)(P)
    np.testing.assert_allclose(slope, CUBE, rtol=1e-6)
    assert jvp(f, (P,), (V,))[1] == pytest.approx(V @ CUBE)
    assert value == f(P)


def test_modes() -> None:
    f = by_attribute()
    f(P)
    np.testing.assert_allclose(grad(f, debug=True)(P), CUBE, rtol=1e-6)
    np.testing.assert_allclose(grad(f, compile=True)(P), CUBE, rtol=1e-6)
    np.testing.assert_allclose(grad(lambda p: checkpoint(f, p))(P), CUBE, rtol=1e-6)
    np.testing.assert_allclose(prepare(grad, f, P)(P), CUBE, rtol=1e-6)
    np.testing.assert_allclose(hvp(f, (P,), V), -2 / 3 * CUBE / P * V, rtol=1e-5)


def test_a_number_and_one_solver_after_another() -> None:
    o: Any = SimpleNamespace(q=None)
    root = implicit(lambda q: (setattr(o, "q", q), q**0.5)[1], lambda x, q: x * x - o.q)

    def f(p: Any) -> Any:
        return root(root(p) * p) + o.q

    f(1.3)
    assert grad(f)(1.3) == pytest.approx(0.75 * 1.3**-0.25 + 1.5 * 1.3**0.5)
    assert grad(root)(o.q) == pytest.approx(0.5 * o.q**-0.5)


def test_complex_solutions_and_zero() -> None:
    o: Any = SimpleNamespace(q=None)

    def solve(q: Any) -> Any:
        o.q = q
        return np.array([0.0, q * 1j])

    root = implicit(solve, lambda x, q: np.array([x[0] * (1 + x[0]), x[1] ** 2 + o.q**2]))
    root(1.3)
    assert grad(lambda q: root(q)[1].imag * q)(1.3) == pytest.approx(2.6)


def test_residual_that_is_zero_from_no_state() -> None:
    o: Any = SimpleNamespace(q=None)
    root = implicit(lambda q: (setattr(o, "q", q), q**0.5)[1], lambda x, q: x * x - 2 * o.q)
    with pytest.raises(SolverError, match="has not converged"):
        grad(root)(1.3)
    root(1.3)
    with pytest.raises(SolverError, match="has not converged"):
        grad(root)(1.3)
