"""Products with constant sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad
from tests.support.gradients import check

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")
X = np.array([0.3, 1.2, 0.7])
DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.5, -1.0, 0.0], [0.0, 3.0, 0.0]])


def in_steps(a: Any, x: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        u[:] = u - 0.1 * (a.T @ (a @ u))
        x *= 0.5
    return np.sum(u * u) + x[0]


USES = {
    "vector": lambda a, x: np.sum((a @ x) ** 2),
    "dot": lambda a, x: np.sum(a.dot(x) ** 2),
    "from both sides": lambda a, x: np.sum(np.sin(a @ x) @ a),
    "matrix": lambda a, x: np.sum((a @ np.outer(x, x)) ** 2),
    "complex": lambda a, x: np.abs(np.sum((1j * a) @ (x * (1 + 2j)))),
    "in steps": in_steps,
}


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia"])
@pytest.mark.parametrize("use", USES)
def test_gradient(use: str, form: str, kind: str) -> None:
    a = getattr(sparse, f"{form}_{kind}")(DENSE)
    check(lambda x: USES[use](a, x), X)


def test_elements_of_the_matrix_are_constants() -> None:
    a = sparse.csr_array(np.eye(3))

    def f(x: Any) -> Any:
        b = a.copy()
        b.data[:] = x
        return np.sum(b @ x)

    with pytest.raises(MissingRuleError, match="no derivative with respect to argument 0"):
        grad(f)(X)


SQUARE = DENSE[1:] + 4 * np.eye(3)

SOLVES = {
    "spsolve": lambda a, x: linalg.spsolve(a, x),
    "matrix": lambda a, x: linalg.spsolve(a, np.outer(x, x[:2])),
    "column": lambda a, x: linalg.spsolve(a, x[:, None]),
    "complex": lambda a, x: np.abs(linalg.spsolve((1 + 2j) * a, x * (1 - 1j))),
    "splu": lambda a, x: linalg.splu(a).solve(x),
    "splu-transposed": lambda a, x: linalg.splu(a).solve(np.outer(x, x), trans="T"),
    "splu-adjoint": lambda a, x: linalg.splu(a).solve(rhs=x, trans="H"),
    "factorized": lambda a, x: linalg.factorized(a)(x),
}


@pytest.mark.parametrize("solve", SOLVES)
def test_gradient_of_systems(solve: str) -> None:
    a = sparse.csc_array(SQUARE)

    def f(x: Any) -> Any:
        y = x * x
        z = SOLVES[solve](a, y)
        y[:] = 0.0
        return np.sum(z * z) + np.sum(y)

    check(f, X)


def test_solution_of_an_active_sparse_matrix_is_refused() -> None:
    a = sparse.csc_array(SQUARE)

    def f(x: Any) -> Any:
        b = a.copy()
        b.data[:3] = x
        return np.sum(linalg.spsolve(b, np.ones(3)))

    with pytest.raises(MissingRuleError):
        grad(f)(X)
