"""Matrix equations of `scipy.linalg` in which real and complex matrices stand together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp

sl = pytest.importorskip("scipy.linalg")

REAL_SPECTRUM = np.array([[2.0, 0.3, 0.1], [0.0, 1.5, 0.4], [0.0, 0.0, 3.0]])
COMPLEX_SPECTRUM = np.array([[2.0, 1.0, 0.1], [-1.0, 2.0, 0.4], [0.3, 0.0, 3.0]])
ADDED = np.array([[1.0, 0.3j, 0.2], [0.1, 2.0 + 1j, 0.0], [0.5j, 0.2, 1.0]])
EQUATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sylvester": lambda a, b: sl.solve_sylvester(a, b, np.eye(3)),
    "reversed": lambda a, b: sl.solve_sylvester(b, a, np.eye(3)),
    "lyapunov": sl.solve_continuous_lyapunov,
    "discrete": lambda a, b: sl.solve_discrete_lyapunov(0.1 * a, b, "bilinear"),
}


@pytest.mark.parametrize("stack", [(), (1,)])
@pytest.mark.parametrize("name", EQUATIONS)
def test_equations_of_real_and_complex_matrices(name: str, stack: tuple[int, ...]) -> None:
    solve = EQUATIONS[name]
    a = np.broadcast_to(REAL_SPECTRUM, (*stack, 3, 3)).copy()
    check_complex(solve, a, ADDED)


@pytest.mark.parametrize("name", EQUATIONS)
def test_what_scipy_does_not_solve_is_refused(name: str) -> None:
    """It takes the real Schur form of a real matrix, which has blocks, for a triangular one."""
    solve = EQUATIONS[name]
    wrong, right = solve(COMPLEX_SPECTRUM, ADDED), solve(COMPLEX_SPECTRUM + 0j, ADDED)
    if np.allclose(wrong, right):
        pytest.skip("this version of SciPy solves it")
    with pytest.raises(MooncakeError, match="SciPy has not solved the equation"):
        grad(lambda a: np.abs(solve(a, ADDED)).sum())(COMPLEX_SPECTRUM)
    check_complex(solve, COMPLEX_SPECTRUM + 0j, ADDED)


def check_complex(f: Callable[[Any, Any], Any], a: Any, b: Any) -> None:
    """Compare the gradients of a real number with differences, and with tangents."""
    rng = np.random.default_rng(3)
    weights = rng.normal(size=np.shape(f(a, b))) + 1j

    def total(a: Any, b: Any) -> Any:
        return np.real(np.sum(weights * f(a, b)))

    va = rng.normal(size=a.shape) * (1 + 0.5j if np.iscomplexobj(a) else 1.0)
    vb = rng.normal(size=b.shape) * (1 - 0.5j)
    h = 1e-6
    expected = (total(a + h * va, b + h * vb) - total(a - h * va, b - h * vb)) / (2 * h)
    da, db = grad(total, (0, 1))(a, b)
    np.testing.assert_allclose(np.real(np.vdot(da, va) + np.vdot(db, vb)), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(total, (a, b), (va, vb))[1], expected, rtol=1e-6)
