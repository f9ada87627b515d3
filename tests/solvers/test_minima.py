"""Minima and fits that SciPy finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    MissingRuleError,
    SolverError,
    grad,
    hessian,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)

pytest.importorskip("scipy")
from scipy import optimize as so

from tests.solvers.differences import along, slow_but
from tests.support.marks import each_third

A = np.array([1.0, -0.5, 0.7])
T = np.linspace(0, 1, 12)
Y = 2 * np.exp(-3 * T) + 0.5 + 0.01 * np.cos(40 * T)
TIGHT = {"gtol": 1e-10}
TIGHTEST = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}
BOUNDS = [(0.1, None), (-0.1, 5), (None, None)]


def cost(x: Any, a: Any) -> Any:
    squares = np.sum((x - a) ** 2 * np.array([1.0, 2.0, 3.0])) / 2
    return squares + 0.1 * np.sum(x**4) + 0.3 * x[0] * x[1]


def errors(x: Any, a: Any) -> Any:
    return np.append(x - a, 0.3 * x**2 + a)


def slopes(x: Any, a: Any) -> Any:
    return np.vstack([np.eye(3), np.diag(0.6 * x)])


def decay(t: Any, p: Any, q: Any, r: Any) -> Any:
    return p * np.exp(-q * t) + r


def decay_slopes(t: Any, p: Any, q: Any, r: Any) -> Any:
    return np.stack([np.exp(-q * t), -p * t * np.exp(-q * t), np.ones(len(t))], 1)


def fit(y: Any, **options: Any) -> Any:
    p0 = [1.0, 2.0, 0.0]
    return so.curve_fit(decay, T, y, p0, jac=decay_slopes, **TIGHTEST, **options)


def least(a: Any, **options: Any) -> Any:
    return so.least_squares(errors, np.zeros(3) - 0.5, slopes, args=(a,), **TIGHTEST, **options)


def lowest(a: Any, x0: Any = 0.5, **options: Any) -> Any:
    return so.minimize(cost, np.zeros(3) + x0, (a,), jac=grad(cost), **options)


SOLUTIONS: dict[str, Callable[[Any], Any]] = {
    "BFGS": lambda a: lowest(a, options=TIGHT).x,
    "value": lambda a: lowest(a, options=TIGHT).fun,
    "jac=True": lambda a: (
        so.minimize(value_and_grad(lambda x: cost(x, a)), A, jac=True, options=TIGHT).x
    ),
    "trust-exact": lambda a: lowest(a, method="trust-exact", hess=hessian(cost), options=TIGHT).x,
    "Nelder-Mead": lambda a: (
        so.minimize(cost, A, a, "Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-16}).x
    ),
    "L-BFGS-B": lambda a: (
        lowest(a, bounds=BOUNDS, options={"gtol": 1e-12, "ftol": 1e-16}).x
    ),
    "trust-constr": lambda a: (
        lowest(
            a,
            method="trust-constr",
            bounds=so.Bounds([0.1, -0.1 * a[0], -np.inf], np.inf),
            options={"gtol": 1e-10, "xtol": 1e-12},
        ).x
    ),
    "SLSQP": lambda a: (
        lowest(a, method="SLSQP", bounds=so.Bounds([0.1, -0.1 * a[0], -9], 9), tol=1e-14).x
    ),
    "fixed": lambda a: (
        lowest(a, bounds=[(a[2], a[2]), (-9, 9), (-9, 9)], options={"gtol": 1e-12, "ftol": 0}).x
    ),
    "least_squares": lambda a: least(a).x,
    "soft_l1": lambda a: least(a, loss="soft_l1", f_scale=0.7).cost,
    "huber": lambda a: least(a, loss="huber", f_scale=0.3).fun,
    "arctan": lambda a: least(a, loss="arctan", f_scale=2.0).x,
    "cauchy with bounds": lambda a: (
        least(a, bounds=(-1, [0.2, 0.3, 0.25]), loss="cauchy", f_scale=0.7).x
    ),
    "lm": lambda a: least(a, method="lm").x,
    "curve_fit": lambda a: fit(Y + 0.1 * a[0] * T + 0.1 * a[1])[0],
    "sigma": lambda a: fit(Y, sigma=1 + 0.1 * T * a[0])[0],
    "matrix sigma": lambda a: (
        fit(Y, sigma=np.diag(1 + 0.1 * T * a[0]) + 0.05 * a[1] ** 2)[0]
    ),
    "covariance": lambda a: 100 * fit(Y + 0.1 * a[0] * T + 0.1 * a[1])[1],
    "absolute": lambda a: (
        fit(Y + 0.1 * a[0] * T, sigma=0.1 + 0.01 * T * a[1], absolute_sigma=True)[1]
    ),
    "minimize_scalar": lambda a: so.minimize_scalar(grad_free(a), tol=1e-12).x,
    "bounded": lambda a: (
        so.minimize_scalar(grad_free(a), bounds=(0, 3), options={"xatol": 1e-12}).x
    ),
    "at a bound": lambda a: (
        so.minimize_scalar(grad_free(a), bounds=(a[2] * 2, 3), options={"xatol": 1e-12}).x
    ),
}  # fmt: skip


def grad_free(a: Any) -> Callable[[Any], Any]:
    return lambda x: (x - a[0]) ** 2 + 0.1 * x**4


# Where SciPy compares values of the function it stops at the square root of their precision.
ROUGH = {"Nelder-Mead", "minimize_scalar", "bounded", "at a bound", "trust-constr", "arctan"}
V = np.array([1.0, 2.0, 3.0])


def weighed(name: str) -> Callable[[Any], Any]:
    """Return a number for each of the solutions."""
    weights = np.random.default_rng(1).normal(size=100)

    def f(a: Any) -> Any:
        solution = np.ravel(SOLUTIONS[name](a))
        return solution @ weights[: solution.size]

    return f


def tolerance(name: str) -> float:
    return 1e-4 if name in ROUGH else 2e-6


@pytest.mark.sampled(3)
@pytest.mark.without_modes("they are as precise as the solver")
@pytest.mark.parametrize("name", each_third(SOLUTIONS))
def test_against_differences(name: str) -> None:
    f = weighed(name)
    value, gradient = value_and_grad(f)(A)
    assert value == f(A)
    expected = pytest.approx(along(f, A, V), rel=tolerance(name), abs=tolerance(name))
    assert gradient @ V == expected
    assert jvp(f, (A,), (V,))[1] == pytest.approx(gradient @ V, rel=1e-10)


@pytest.mark.thorough
@pytest.mark.without_modes("they are as precise as the solver")
@pytest.mark.parametrize("name", slow_but(["jac=True", "fixed", "at a bound", "lm"], SOLUTIONS))
def test_second_derivatives_against_differences(name: str) -> None:
    f = weighed(name)
    curvature = along(lambda a: grad(f)(a) @ V, A, V)
    expected = pytest.approx(curvature, rel=10 * tolerance(name), abs=10 * tolerance(name))
    assert V @ hessian(f)(A) @ V == expected
    assert grad(lambda a: grad(f)(a) @ V)(A) @ V == expected


def test_linear_regression() -> None:
    x = np.vander(T, 3)
    found = grad(lambda y: so.minimize(lambda b: np.sum((x @ b - y) ** 2), np.zeros(3)).x[0])(Y)
    np.testing.assert_allclose(found, np.linalg.pinv(x)[0], rtol=1e-10)


def test_value_at_the_minimum() -> None:
    """By the envelope theorem."""
    result = value_and_grad(lambda a: lowest(a, options=TIGHT).fun)
    x = lowest(A, options=TIGHT).x
    np.testing.assert_allclose(result(A)[1], (A - x) * [1, 2, 3], rtol=1e-8)


def test_results_have_all_fields() -> None:
    def f(a: Any) -> Any:
        result = lowest(a, options=TIGHT)
        near = np.linalg.norm(result.jac) < 1.0
        return np.sum(result.x) * near, list(result)

    (value, names), _ = value_and_grad(f, has_aux=True)(A)
    plain, known = f(A)
    assert value == plain
    assert names == known


FITTED = {
    "jac": lambda a: lowest(a, options=TIGHT).jac.sum(),
    "hess_inv": lambda a: lowest(a, options=TIGHT).hess_inv.sum(),
    "of an object": lambda a: lowest(a, method="L-BFGS-B").hess_inv.todense().sum(),
    "fjac": lambda a: so.root(lambda v: v**3 + v - a, [0.0, 0.0, 0.0]).fjac.sum(),
    "r": lambda a: so.fsolve(lambda v: v**3 + v - a, [0.0] * 3, full_output=True)[1]["r"].sum(),
    "least squares": lambda a: so.least_squares(lambda v: v**3 + v - a, [0.0] * 3).jac.sum(),
}


@pytest.mark.parametrize("name", FITTED)
def test_what_a_solver_has_approximated_is_refused_where_a_derivative_needs_it(name: str) -> None:
    def f(a: Any) -> Any:
        return FITTED[name](a) + a[0]

    for take in (lambda: grad(f)(A), lambda: jvp(f, (A,), (A,))):
        with pytest.raises(SolverError, match="approximations by a solver have no derivative"):
            take()


def test_constants_are_not_looked_at() -> None:
    def f(a: Any) -> Any:
        kink = so.minimize(lambda x: np.sum(abs(x - 1)), A, method="Nelder-Mead")
        low = so.minimize_scalar(lambda x: abs(x - 2.0)).x
        line = so.linprog([1.0], bounds=[(3.0, None)]).x[0]
        return np.sum(kink.x) * low * line * a[0] + kink.nit * 0.0

    np.testing.assert_allclose(grad(f)(A), [18, 0, 0], rtol=1e-3, atol=0)


def refusal(f: Any) -> Any:
    with pytest.raises((SolverError, MissingRuleError)) as caught:
        grad(f)(A)
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    return caught.value


def test_not_converged() -> None:
    error = refusal(lambda a: lowest(a, x0=3.0, options={"maxiter": 1}).x[0])
    assert "has not converged" in str(error)


def test_kink_is_singular() -> None:
    error = refusal(lambda a: so.minimize(lambda x: abs(x[0] - a[0]), 0.5, method="Powell").x[0])
    assert "singular" in str(error)


def test_refused() -> None:
    held = {"type": "eq", "fun": lambda x: x[0] - 1.0}
    error = refusal(lambda a: lowest(a, method="SLSQP", constraints=held).x[0])
    assert "with constraints" in error.what
    error = refusal(lambda a: so.linprog(a, bounds=[(0, 1)] * 3).x[0])
    assert "corner" in error.why
    error = refusal(lambda a: so.curve_fit(decay, T, Y * a[0], nan_policy="omit")[0][0])
    assert "nan_policy" in error.what


def test_gradient_callback_reads_what_the_function_has_kept() -> None:
    def f(a: Any) -> Any:
        kept: dict[str, Any] = {}

        def fun(v: Any) -> Any:
            kept["c"] = a * a
            return (v[0] - kept["c"]) ** 2

        def jac(v: Any) -> Any:
            return np.array([2 * (v[0] - kept["c"])])

        return so.minimize(fun, [0.8], jac=jac, tol=1e-11).x[0]

    np.testing.assert_allclose(grad(f)(1.1), 2.2, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (1.1,), (1.0,))[1], 2.2, rtol=1e-7)


DERIVED: dict[str, Callable[[Any, Any], Any]] = {
    "grad": grad(cost),
    "jacobian": jacobian(cost),
    "vjp": lambda x, a: vjp(lambda x: cost(x, a), x)[1](1.0)[0],
    "jvp": lambda x, a: np.array([jvp(cost, (x, a), (e, 0.0 * a))[1] for e in np.eye(3)]),
    "nested": lambda x, a: grad(lambda x: jvp(cost, (x, a), (x, 0 * a))[1] * 0 + cost(x, a))(x),
}


@pytest.mark.parametrize("jac", DERIVED)
def test_derivatives_within_callbacks_while_these_change_something(jac: str) -> None:
    def f(a: Any, slopes: Any = DERIVED[jac]) -> Any:
        calls = [0]

        def counted(x: Any, a: Any) -> Any:
            calls[0] += 1
            return slopes(x, a)

        bounds = so.Bounds(-5.0, 5.0)  # minimize changes these
        exact = {"gtol": 1e-12, "ftol": 1e-16}
        x = so.minimize(cost, A, (a,), "L-BFGS-B", counted, bounds=bounds, options=exact).x
        return np.sum(x**2) + 0.0 * calls[0]

    v = np.array([0.3, 1.0, -0.6])
    expected = along(f, A, v)
    np.testing.assert_allclose(jvp(f, (A,), (v,))[1], expected, rtol=1e-6)
    np.testing.assert_allclose(grad(f)(A) @ v, expected, rtol=1e-6)
