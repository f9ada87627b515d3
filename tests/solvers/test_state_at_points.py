"""The points at which solvers evaluate their callbacks: values that depend on them, and buffers."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

from mooncake_py import (
    SolverError,
    checkpoint,
    grad,
    hessian,
    implicit,
    jvp,
    value_and_grad,
)


def remembering(a: Any) -> tuple[Any, list[Any]]:
    seen: list[Any] = []
    x = optimize.newton(lambda x: (seen.append(a * x), x * x - a)[1], 1.5, tol=1e-13)
    return x, seen


def last_point(a: Any) -> Any:
    last: dict[str, Any] = {"x": None}

    def r(x: Any) -> Any:
        last["x"] = x
        return x * x - a

    optimize.newton(r, 1.5, tol=1e-13)
    return last["x"] * 1.0


def test_last_point_of_a_solver_has_the_derivative_of_its_solution() -> None:
    assert value_and_grad(last_point)(4.0) == (last_point(4.0), pytest.approx(0.25))
    assert jvp(last_point, (4.0,), (1.0,))[1] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "take", [lambda a: grad(lambda a: remembering(a)[1][2])(a),
             lambda a: jvp(lambda a: remembering(a)[1][2], (a,), (1.0,)),
             lambda a: hessian(lambda a: sum(remembering(a)[1]))(a),
             lambda a: grad(lambda a: checkpoint(lambda a: remembering(a)[1][2], a))(a),
             lambda a: grad(lambda a: remembering(a)[1][2], debug=True)(a)],
    ids=["grad", "jvp", "hessian", "checkpoint", "debug"],
)  # fmt: skip
def test_earlier_points_have_no_derivative(take: Any) -> None:
    with pytest.raises(SolverError, match="a callback of newton stored has no derivative") as e:
        take(4.0)
    assert "'seen'" in str(e.value)
    assert e.value.where is not None


def test_earlier_points_may_start_another_solver() -> None:
    def f(a: Any) -> Any:
        x, seen = remembering(a)
        return optimize.newton(lambda y: y * y - a * x, seen[2], tol=1e-13), len(seen), float

    value = f(4.0)[0]
    assert grad(lambda a: f(a)[0])(4.0) == pytest.approx(value * 0.75 / 4.0)
    assert jvp(lambda a: f(a)[0], (4.0,), (1.0,))[1] == pytest.approx(value * 0.75 / 4.0)


def test_points_may_be_shown() -> None:
    (value, seen), slope = value_and_grad(remembering, has_aux=True)(4.0)
    assert (value, seen) == remembering(4.0)
    assert slope == pytest.approx(0.25)


def test_nodes_of_integrals_are_constants() -> None:
    def f(a: Any) -> Any:
        sums = [0.0]

        def integrand(x: Any) -> Any:
            sums[0] += a * x
            return a * x

        return integrate.quad(integrand, 0, 1)[0] + sums[0]

    assert grad(f)(3.0) == pytest.approx(f(3.0) / 3.0)
    assert jvp(f, (3.0,), (1.0,))[1] == pytest.approx(f(3.0) / 3.0)


def test_solver_that_raises_leaves_what_its_callback_wrote() -> None:
    seen: list[float] = []

    def f(a: Any) -> Any:
        def r(x: Any) -> Any:
            seen.append(a * 2.0)
            if len(seen) == 3:
                raise KeyError("enough")
            return x * x - a

        try:
            optimize.brentq(r, 0.5, 10)
        except KeyError:
            return seen[-1] * len(seen)

    assert value_and_grad(f)(4.0) == (24.0, 6.0)
    assert seen == []


def test_solver_of_the_users_may_return_its_buffer() -> None:
    buffer = np.zeros(2)

    def solve(a: Any) -> Any:
        buffer[:] = np.sqrt(a)
        return buffer

    root = implicit(solve, lambda x, a: x * x - a)

    def f(a: Any) -> Any:
        for _ in range(2):
            p = root(a)
            p *= 2
        return np.sum(buffer * a)

    a = np.array([4.0, 9.0])
    np.testing.assert_allclose(grad(f)(a), 3 * np.sqrt(a))
    np.testing.assert_array_equal(buffer, np.zeros(2))


def test_residual_of_implicit_is_not_seen() -> None:
    calls: list[int] = []
    root = implicit(math.sqrt, lambda x, a: (calls.append(1), x * x - a)[1])
    assert grad(lambda a: root(a) + len(calls) * a)(4.0) == 0.25
    assert calls == []


def test_evaluations_share_work_through_the_last_point() -> None:
    class Model:
        def __init__(self, a: Any) -> None:
            self.a = a
            self.x: Any = None
            self.count = 0

        def both(self, x: Any) -> Any:
            if self.x is None or not np.array_equal(self.x, x):
                self.x = np.array(x)
                self.count += 1
                r = x - self.a
                self.values = np.sum(r**2) + np.sum(x**4), 2 * r + 4 * x**3
            return self.values

    def f(a: Any) -> Any:
        model = Model(a)
        found = optimize.minimize(
            lambda x: model.both(x)[0], np.zeros(2), jac=lambda x: model.both(x)[1], tol=1e-10
        )
        return found.x[0] * model.count, found.x[0]

    (value, x), slope = value_and_grad(f, has_aux=True)(2.0)
    assert value == f(2.0)[0]
    assert slope == pytest.approx(value / x / (1 + 6 * x**2), rel=1e-6)


BUFFER = np.zeros(2)


def with_buffer_of_a_solver(a: Any) -> Any:
    def solve(a: Any) -> Any:
        BUFFER[:] = a, 2 * a
        return np.sqrt(BUFFER)

    x = implicit(solve, lambda x, a: x * x - a * np.array([1.0, 2.0]))(a)
    return np.sum(x) * 0.0 + BUFFER[0]


def with_buffer_of_a_callback(a: Any) -> Any:
    def r(x: Any) -> Any:
        np.multiply(a, a, out=BUFFER[:1])
        return x * x - BUFFER[0]

    return optimize.brentq(r, 0.5, 10, xtol=1e-13) * 0.0 + BUFFER[0]


@pytest.mark.parametrize(
    ("f", "slope"), [(with_buffer_of_a_solver, 1.0), (with_buffer_of_a_callback, 4.0)]
)
def test_buffers_that_hold_the_same_already(f: Any, slope: float) -> None:
    f(2.0)
    before = BUFFER.copy()
    for _ in range(2):
        assert grad(f)(2.0) == pytest.approx(slope)
        assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(slope)
        np.testing.assert_array_equal(BUFFER, before)
        assert BUFFER.flags.writeable


def test_a_dict_by_points_is_shared_by_function_and_slope() -> None:
    def f(a: Any) -> Any:
        known: dict[Any, Any] = {}

        def exponential(x: Any) -> Any:
            if x not in known:
                known[x] = math.exp(x / 5) * a
            return known[x]

        root = optimize.newton(
            lambda x: x**3 - exponential(x),
            1.0,
            fprime=lambda x: 3 * x * x - exponential(x) / 5,
            tol=1e-14,
        )
        return root * len(known)

    value, slope = value_and_grad(f)(2.0)
    assert value == f(2.0)
    x = value / (
        calls := round(value / optimize.brentq(lambda x: x**3 - 2 * math.exp(x / 5), 0, 9))
    )
    expected = calls * math.exp(x / 5) / (3 * x * x - 2.0 * math.exp(x / 5) / 5)
    assert slope == pytest.approx(expected, rel=1e-9)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize("start", [2.0, 1.7])  # the solution, and not
@pytest.mark.parametrize("differentiate", [
    lambda f: grad(f)(4.0),
    lambda f: jvp(f, (4.0,), (1.0,))[1],
    lambda f: grad(lambda x: checkpoint(f, x))(4.0),
])  # fmt: skip
def test_what_an_implicit_solve_stores_of_its_arguments(differentiate: Any, start: float) -> None:
    stored: dict[str, Any] = {}

    def solve(x: Any, y: Any) -> Any:
        while abs(y * y - x) > 1e-12:
            y = y - (y * y - x) / (2 * y)
        stored["scale"] = x * 3.0
        return y

    root = implicit(solve, lambda y, x, start: y * y - x)
    assert differentiate(lambda x: root(x, start) * stored["scale"]) == pytest.approx(9.0)
