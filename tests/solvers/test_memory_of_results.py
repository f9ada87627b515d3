"""Results of solvers whose fields share memory, with one another or with the program's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, checkpoint, grad, jvp, value_and_grad
from tests.solvers.differences import along

optimize = pytest.importorskip("scipy.optimize")

P = np.array([1.3, 0.7])
V = np.array([0.6, -1.1])
W = np.array([1.0, 2.0])

Program = Callable[[Any], Any]


def square(p: Any) -> Callable[[Any], Any]:
    return lambda x: float((x - p) @ (x - p))


def simplex(then: Callable[[Any, Any], Any]) -> Program:
    def f(p: Any) -> Any:
        r = optimize.minimize(square(p), [0.5, 0.5], method="Nelder-Mead", tol=1e-10)
        return then(r, p)

    return f


def solution_written(r: Any, p: Any) -> Any:
    r.x[0] = 9.0
    points = r.final_simplex[0]
    return p.sum() + (points > 5).sum() + points[0, 0] * p[1]


def simplex_written(r: Any, p: Any) -> Any:
    r.final_simplex[0][:] = p[1]
    return r.x @ W


def shared(r: Any, p: Any) -> Any:
    return r.x @ W + np.shares_memory(r.x, r.final_simplex[0])


def steps(method: str) -> Program:
    def f(p: Any) -> Any:
        options = {"return_all": True}
        r = optimize.minimize(square(p), [0.5, 0.5], method=method, options=options)
        r.x[0] = p[0]
        last = r.allvecs[-1]
        return p.sum() + (last == p[0]).sum() + (last is r.x)

    return f


def slopes(method: str) -> Program:
    def f(p: Any) -> Any:
        buffer, hessian = np.zeros(2), 2 * np.eye(2) * p[0]

        def slope(x: Any) -> Any:
            buffer[:] = 2 * (x - p) * p[0]
            return buffer

        options = {"hess": lambda x: hessian} if method == "trust-exact" else {}
        r = optimize.minimize(
            lambda x: square(p)(x) * p[0], [0.5, 0.5], method=method, jac=slope, **options
        )
        r.jac[0] = 9.0
        y = r.x @ W + buffer[0] * p[0]
        return y + r.hess[0] @ W * (r.hess is hessian) if "hess" in r else y

    return f


def residuals(method: str) -> Program:
    def f(p: Any) -> Any:
        buffer = np.zeros(2)

        def errors(x: Any) -> Any:
            buffer[:] = x - p
            return buffer

        r = optimize.root(errors, [0.5, 0.5], method=method)
        r.fun[0] = 9.0
        return buffer[0] * p[0] + r.x @ W

    return f


def fit(method: str) -> Program:
    def f(p: Any) -> Any:
        buffer, slope = np.zeros(2), np.eye(2)

        def errors(x: Any) -> Any:
            buffer[:] = x - p
            return buffer

        r = optimize.least_squares(errors, [0.5, 0.5], method=method, jac=lambda x: slope)
        r.fun[0] = 9.0
        return (buffer[0] + 1.0) * p[0] + r.x @ W

    return f


PROGRAMS: dict[str, Program] = {
    "a row of a simplex": simplex(lambda r, p: r.final_simplex[0][0] @ W),
    "the solution written": simplex(solution_written),
    "the simplex written": simplex(simplex_written),
    "shared": simplex(shared),
    "steps of CG": steps("CG"),
    "steps of Powell": steps("Powell"),
    "slopes of BFGS": slopes("BFGS"),
    "slopes of trust-exact": slopes("trust-exact"),
    "residuals of hybr": residuals("hybr"),
    "residuals of trf": fit("trf"),
    "residuals of lm": fit("lm"),
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_fields_that_share_memory(f: Program) -> None:
    value, slope = value_and_grad(f)(P)
    np.testing.assert_allclose(value, f(P), rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (P,), (V,))[1], slope @ V, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(slope @ V, along(f, P, V), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["the solution written", "slopes of BFGS"])
def test_them_in_other_modes(name: str) -> None:
    f = PROGRAMS[name]
    slope = grad(f)(P)
    np.testing.assert_allclose(grad(f, debug=True)(P), slope, rtol=1e-6)
    np.testing.assert_allclose(grad(lambda p: checkpoint(f, p))(P), slope, rtol=1e-6)


def test_other_rows_of_a_simplex_have_no_derivative() -> None:
    f = simplex(lambda r, p: r.final_simplex[0][1] @ W)
    with pytest.raises(SolverError, match="approximations"):
        grad(f)(P)
