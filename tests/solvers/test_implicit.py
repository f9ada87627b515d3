"""Solutions of equations, differentiated by the implicit function theorem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    SolverError,
    UntrackedWriteError,
    checkpoint,
    grad,
    hessian,
    hvp,
    implicit,
    jacobian,
    jvp,
    value_and_grad,
)
from mooncake_py.testing import test_rule as check

A = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.5, 4.0]])
B = np.array([1.0, 2.0, 3.0])

root = implicit(math.sqrt, lambda x, a: x * x - a)


def by_newton(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve ``a x + x^3 = b``."""
    x = np.zeros_like(b)
    for _ in range(100):
        x = x - np.linalg.solve(a + np.diag(3 * x**2), a @ x + x**3 - b)
    return x


cubic = implicit(by_newton, lambda x, a, b: a @ x + x**3 - b)


def test_plain_call() -> None:
    assert root(4.0) == 2.0
    assert implicit(lambda a: 7.0, lambda x, a: x - a)(1.0) == 7.0  # nothing is checked


def test_number_to_third_order() -> None:
    assert value_and_grad(root)(4.0) == (2.0, 0.25)
    assert jvp(root, (4.0,), (2.0,)) == (2.0, 0.5)
    for second in (
        grad(grad(root))(4.0),
        hessian(root)(4.0),
        hvp(root, (4.0,), 1.0),
        jvp(grad(root), (4.0,), (1.0,))[1],
        grad(lambda a: jvp(root, (a,), (1.0,))[1])(4.0),
    ):
        assert second == pytest.approx(-1 / 32)
    assert grad(grad(grad(root)))(4.0) == pytest.approx(3 / 8 * 4**-2.5)


def test_array_against_the_formula() -> None:
    def total(a: Any, b: Any) -> Any:
        return np.sum(cubic(a, b) ** 2)

    x = by_newton(A, B)
    w = np.linalg.solve((A + np.diag(3 * x**2)).T, 2 * x)
    da, db = grad(total, (0, 1))(A, B)
    np.testing.assert_allclose(da, -np.outer(w, x), rtol=1e-12)
    np.testing.assert_allclose(db, w, rtol=1e-12)


@pytest.mark.thorough
def test_array_in_all_ways() -> None:
    check(lambda a, b: cubic(a, b), A, B, dtypes=False)


def test_matrix_of_unknowns() -> None:
    inverse = implicit(np.linalg.inv, lambda x, a: a @ x - np.eye(len(a)))
    y = np.linalg.inv(A)
    found = grad(lambda a: np.sum(inverse(a) * B))(A)
    np.testing.assert_allclose(found, -(y.T @ np.outer(np.ones(3), B) @ y.T), rtol=1e-12)


def test_no_unknowns() -> None:
    nothing = implicit(lambda a: np.empty(0), lambda x, a: x * a)
    assert grad(lambda a: np.sum(nothing(a)) + a)(2.0) == 1.0


def test_captured_variable() -> None:
    def f(a: float) -> Any:
        held = {"a": a}
        return implicit(lambda: math.sqrt(held["a"]), lambda x: x * x - held["a"])()

    assert grad(f)(4.0) == 0.25
    assert grad(grad(f))(4.0) == pytest.approx(-1 / 32)


COEFFICIENT = 1.0


def test_global_variable() -> None:
    def f(a: float) -> Any:
        global COEFFICIENT
        COEFFICIENT = a
        return implicit(lambda: math.sqrt(COEFFICIENT), lambda x: x * x - COEFFICIENT)()

    assert grad(f)(4.0) == 0.25
    assert COEFFICIENT == 1.0


def test_object_and_memory_written_later() -> None:
    class Equation:
        def __init__(self, a: Any) -> None:
            self.a = a

        def solve(self, b: Any) -> Any:
            return b / self.a

        def residual(self, x: Any, b: Any) -> Any:
            return self.a * x - b

    def f(a: np.ndarray) -> Any:
        equation = Equation(a)
        x = implicit(equation.solve, equation.residual)(np.ones(2))
        a *= 3.0
        return np.sum(x) + np.sum(a)

    np.testing.assert_allclose(grad(f)(np.array([2.0, 4.0])), 3 - 1 / np.array([4.0, 16.0]))


def test_keyword_arguments() -> None:
    found = implicit(lambda *, a: math.sqrt(a), lambda x, *, a: x * x - a)
    assert grad(lambda a: found(a=a))(4.0) == 0.25


def test_solver_runs_on_plain_numbers_and_once(capsys: Any) -> None:
    def solve(a: Any) -> Any:
        print(type(a).__name__)
        return math.sqrt(a)

    assert grad(implicit(solve, lambda x, a: x * x - a))(4.0) == 0.25
    assert capsys.readouterr().out == "float\n"


def test_value_is_that_of_the_solver() -> None:
    nearly = implicit(lambda a: math.sqrt(a) + 1e-9, lambda x, a: x * x - a)
    assert value_and_grad(nearly)(4.0)[0] == nearly(4.0)


def test_within_checkpoint_and_loop() -> None:
    def f(a: float) -> Any:
        for _ in range(3):
            a = checkpoint(root, a)
        return a

    assert grad(f)(2.0) == pytest.approx(2 ** (1 / 8) / 16)


def test_solver_returns_what_it_was_given() -> None:
    same = implicit(lambda a: a, lambda x, a: x - a)
    part = implicit(lambda a: a[:2], lambda x, a: x - a[:2])
    np.testing.assert_array_equal(grad(lambda a: np.sum(same(a) ** 2))(B), 2 * B)
    np.testing.assert_array_equal(grad(lambda a: np.sum(part(a) ** 2))(B), [2, 4, 0])

    def with_callback_that_writes(a: Any) -> Any:
        held = [a * 1.0]

        def solve() -> Any:
            held.append(held[0])
            return held[0]

        return np.sum(implicit(solve, lambda x: x - held[0])() ** 2)

    np.testing.assert_array_equal(grad(with_callback_that_writes)(B), 2 * B)


def test_constant_solution() -> None:
    assert grad(lambda a: root(4.0) * a)(3.0) == 2.0


def test_jacobian_in_both_modes() -> None:
    for mode in ("forward", "reverse"):
        found: Any = jacobian(lambda b: cubic(A, b), mode=mode)(B)
        x = by_newton(A, B)
        np.testing.assert_allclose(found, np.linalg.inv(A + np.diag(3 * x**2)), rtol=1e-10)


def message(f: Any, a: float = 4.0) -> str:
    with pytest.raises(SolverError) as caught:
        grad(lambda a: np.sum(f(a)))(a)
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    return str(caught.value)


def test_not_converged() -> None:
    text = message(implicit(lambda a: 1.0, lambda x, a: x * x - a))
    assert "has not converged" in text
    assert "residual at 1. is [-3.]" in text
    assert "1.5" in text
    assert "f(a)" in text


@pytest.mark.without_modes("away from roots derivatives of derivatives differ", "inside")
def test_tolerance() -> None:
    def f(tolerance: float) -> Any:
        return implicit(lambda a: 2.001, lambda x, a: x * x - a, tolerance=tolerance)

    assert grad(f(1e-3))(4.0) == pytest.approx(0.25, rel=1e-3)
    assert "has not converged" in message(f(1e-4))


@pytest.mark.parametrize(
    ("solution", "residual"),
    [
        (1e-8, lambda x, a: a * x * x),  # a double root
        (1e-4, lambda x, a: a * x**3),
        (np.ones(2), lambda x, a: a * np.array([x[0] - x[1], x[1] - x[0]])),
        (1.0, lambda x, a: a * math.copysign(1.0, x)),  # a jump
        (np.zeros(2), lambda x, a: a * np.array([x[0], 0.0])),
    ],
    ids=["double", "triple", "dependent", "flat", "zero row"],
)
def test_singular(solution: Any, residual: Any) -> None:
    assert "singular" in message(implicit(lambda a: solution, residual))


def test_badly_scaled_equations_are_not_singular() -> None:
    scale = np.array([1e-12, 1e9])
    f = implicit(lambda a: a / scale, lambda x, a: scale * x - a)
    np.testing.assert_allclose(grad(lambda a: np.sum(f(a)))(B[:2]), 1 / scale)


def test_root_at_zero() -> None:
    f = implicit(lambda a: 1e-13, lambda x, a: math.sin(x) + a)
    assert grad(f)(0.0) == pytest.approx(-1.0)


def test_not_finite() -> None:
    assert "not finite" in message(implicit(lambda a: math.nan, lambda x, a: x - a))


def test_other_number_of_equations() -> None:
    text = message(implicit(lambda a: np.ones(2), lambda x, a: x[0] - a))
    assert "1 element, and the solution 2" in text


def halve(a: Any) -> Any:
    a *= 0.5
    return a.copy()


def iterate_in_place(u: Any, p: Any) -> Any:
    for _ in range(50):
        u[...] = u - (u * u - p) / (2 * u)
    return u.copy()


def log_steps(p: Any, log: Any) -> Any:
    log.append(1.0)
    return np.sqrt(p)


def from_ones(p: Any) -> Any:
    u = np.ones(3)
    implicit(iterate_in_place, lambda y, u, p: y * y - p)(u, p)
    return np.sum(u)


def with_log(p: Any, log: Any) -> Any:
    return np.sum(implicit(log_steps, lambda y, p, log: y * y - p)(p, log=log))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(
    ("f", "part"),
    [
        (lambda p: np.sum(implicit(halve, lambda y, a: y - a)(p) * p), r"argument 0\[0\] is 0.15"),
        (from_ones, r"argument 0\[0\] is .*, and was 1.0 before"),
        (lambda p: with_log(p, []), r"argument 'log'\[0\] is 1.0, and was not there"),
        (lambda p: with_log(p, [p[0]]), r"argument 'log'\[1\] is 1.0, and was not there"),
        (lambda p: hessian(lambda q: with_log(q, [2.0]))(p)[0, 0], "'log'"),
    ],
)
def test_changes_of_arguments_are_refused(f: Any, part: str, mode: Any) -> None:
    x = np.array([0.3, 0.7, 1.2])
    with pytest.raises(UntrackedWriteError, match=part) as caught:
        grad(f, mode=mode)(x)
    assert "work on a copy" in str(caught.value)
    np.testing.assert_array_equal(x, [0.3, 0.7, 1.2])


def test_residual_reads_captured_arrays_as_before_the_solver_or_after() -> None:
    def f(a: Any, c: float) -> Any:
        return np.sum(implicit(lambda: halve(a), lambda y: y - c * a)() * a)

    with pytest.raises(SolverError, match="has not converged"):
        grad(f)(B, 0.7)
    np.testing.assert_allclose(grad(f)(B, 0.5), 0.5 * B)
    np.testing.assert_allclose(grad(f)(B, 1.0), 0.5 * B)


def test_residual_reads_attributes_as_before_the_solver_or_after() -> None:
    class State:
        pass

    def advance(state: Any) -> Any:
        state.u = state.u * 0.5
        return state.u.copy()

    def f(a: Any, c: float) -> Any:
        state = State()
        state.u = a
        y = implicit(advance, lambda y, state: y - c * state.u)(state)
        return np.sum(state.u * y)

    with pytest.raises(SolverError, match="has not converged"):
        grad(f)(B, 0.7)
    np.testing.assert_allclose(grad(f)(B, 0.5), 0.5 * B)
    np.testing.assert_allclose(grad(f)(B, 1.0), 0.5 * B)


def test_changes_of_arguments_outside_derivatives() -> None:
    log: list[float] = []
    with_log(B, log)
    assert log == [1.0]


def test_what_callbacks_of_a_solver_write_is_seen_in_the_program() -> None:
    seen: list[float] = []

    def solve(p: Any, accept: Any) -> Any:
        accept(p)
        return np.sqrt(p)

    solver = implicit(solve, lambda y, p, accept: y * y - p)

    def f(p: Any) -> Any:
        return np.sum(solver(p, lambda v: seen.append(2.0))) * sum(seen)

    p = np.array([0.3, 0.7])
    np.testing.assert_allclose(grad(f)(p), 1 / np.sqrt(p))
    assert seen == []
