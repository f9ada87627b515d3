"""Roots that SciPy finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, debug_mode, grad, hessian, jvp, value_and_grad

pytest.importorskip("scipy")
from scipy import optimize as so

CUBE_ROOTS: dict[str, Callable[[Any], Any]] = {
    "brentq": lambda a: so.brentq(lambda v, a: v**3 - a, 0, 5, args=a),
    "brenth": lambda a: so.brenth(lambda v, a, b: v**3 - a * b, 0, 5, (a, 1.0)),
    "ridder": lambda a: so.ridder(lambda v: v**3 - a, 0, 5, xtol=1e-14, full_output=True)[1].root,
    "bisect": lambda a: so.bisect(lambda v: v**3 - a, 0, 5, full_output=True)[0],
    "toms748": lambda a: so.toms748(lambda v: v**3 - a, 0, 5),
    "newton": lambda a: so.newton(lambda v: v**3 - a, 1.0),
    "newton full": lambda a: so.newton(lambda v: v**3 - a, 1.0, full_output=True)[1].root,
    "newton array": lambda a: so.newton(lambda v, b: v**3 - a * b, np.ones(2), args=(1.0,)).mean(),
    "newton array full": lambda a: so.newton(
        lambda v: v**3 - a, np.ones(2), full_output=True
    ).root.mean(),
    "newton complex": lambda a: abs(
        so.newton(lambda v: v**3 - a, 1.0 + 2j, fprime=lambda v: 3 * v * v)
    ),
    "root_scalar": lambda a: so.root_scalar(lambda v, a: v**3 - a, a, bracket=(0, 5)).root,
    "root_scalar fprime": lambda a: (
        so.root_scalar(lambda v: (v**3 - a, 3 * v * v), x0=1.0, fprime=True).root
    ),
    "fsolve": lambda a: so.fsolve(lambda v, b: [v[0] ** 3 - b], 1.0, args=a, xtol=1e-13)[0],
    "fsolve full": lambda a: so.fsolve(
        lambda v: v**3 - a, np.ones(2), xtol=1e-13, full_output=True
    )[0].mean(),
    "root": lambda a: so.root(lambda v, b: v**3 - b, np.ones(2), args=a, tol=1e-13).x.mean(),
    "root jac": lambda a: so.root(
        lambda v: (v**3 - a, np.diag(3 * v * v)), np.ones(2), jac=True, tol=1e-13
    ).x.mean(),
    "root lm": lambda a: so.root(lambda v: v**3 - a, np.ones(2), method="lm", tol=1e-13).x.mean(),
    "newton_krylov": lambda a: so.newton_krylov(
        lambda v: v**3 - a, np.ones((2, 1)), f_tol=1e-12
    ).mean(),
    "broyden1": lambda a: so.broyden1(lambda v: v**3 - a, 1.9 * np.ones(2), f_tol=1e-12).mean(),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", CUBE_ROOTS)
def test_cube_root(name: str) -> None:
    f = CUBE_ROOTS[name]
    first, second = 1 / 12, -2 / 9 * 8 ** (-5 / 3)
    value, slope = value_and_grad(f)(8.0)
    assert value == f(8.0)
    assert slope == pytest.approx(first, rel=1e-9)
    assert jvp(f, (8.0,), (1.0,))[1] == pytest.approx(first, rel=1e-9)
    assert hessian(f)(8.0) == pytest.approx(second, rel=1e-8)
    assert grad(lambda a: grad(f)(a))(8.0) == pytest.approx(second, rel=1e-8)
    with debug_mode():
        assert grad(f)(8.0) == pytest.approx(first, rel=1e-9)


def test_what_the_function_captured_and_the_interval() -> None:
    def f(p: Any) -> Any:
        table = {"shift": p[0]}
        return so.brentq(lambda v: np.exp(v) - table["shift"], p[1], p[2], xtol=1e-14)

    np.testing.assert_allclose(grad(f)(np.array([2.0, 0.0, 1.0])), [0.5, 0.0, 0.0], atol=1e-12)


def test_system_with_a_formula() -> None:
    def f(p: Any) -> Any:
        def equations(x: Any) -> Any:
            return [x[0] ** 2 + x[1] ** 2 - p[0], x[0] - p[1] * x[1]]

        return so.fsolve(equations, [1.0, 1.0], xtol=1e-14)[1]

    r, k = 5.0, 2.0  # x1 = sqrt(r / (1 + k^2))
    expected = [0.5 / np.sqrt(r * (1 + k * k)), -k * np.sqrt(r) * (1 + k * k) ** -1.5]
    np.testing.assert_allclose(grad(f)(np.array([r, k])), expected, rtol=1e-10)


def test_callback_that_works_in_a_buffer() -> None:
    def f(p: Any) -> Any:
        buffer = np.zeros(2)

        def equations(x: Any) -> Any:
            np.multiply(x, x, out=buffer)
            return buffer - p

        x: Any = so.fsolve(equations, np.ones(2), xtol=1e-14)
        return np.sum(x) + np.sum(buffer)

    p = np.array([4.0, 9.0])
    np.testing.assert_allclose(grad(f)(p), 0.5 / np.sqrt(p) + 1.0, rtol=1e-10)


def test_log_of_the_callback_is_put_back() -> None:
    seen: list[Any] = []

    def f(a: float) -> Any:
        return so.brentq(lambda v: seen.append(1) or v**3 - a, 0, 5)  # type: ignore[func-returns-value]

    assert grad(f)(8.0) == pytest.approx(1 / 12)
    assert seen == []


def test_constants_are_not_looked_at() -> None:
    def f(a: float) -> Any:
        flat = so.brentq(lambda v: (v - 1.0) ** 3, 0, 3.0, xtol=1e-3)
        return a * so.fsolve(lambda v: abs(v - 2.0), [flat], xtol=1e-12)[0]

    assert grad(f)(3.0) == pytest.approx(2.0)


def message(f: Any) -> str:
    with pytest.raises(SolverError) as caught:
        grad(f)(1.0)
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    return str(caught.value)


@pytest.mark.filterwarnings("ignore:The iteration is not making good progress")
def test_not_converged() -> None:
    def nowhere(a: float) -> Any:
        return so.root(lambda v: v**2 + a, np.ones(1)).x[0]

    assert "or no root" in message(nowhere)
    assert "has not converged" in message(
        lambda a: (
            so.root_scalar(lambda v: v - a, bracket=(0.0, 5.0), maxiter=2, method="bisect").root
        )
    )


@pytest.mark.parametrize(
    "f", [lambda v, a: (v - a) ** 3, lambda v, a: (v > a) - 0.5], ids=["flat", "jump"]
)
def test_no_simple_root(f: Any) -> None:
    assert "singular" in message(lambda a: so.brentq(lambda v: float(f(v, a)), 0, 3, xtol=1e-4))
