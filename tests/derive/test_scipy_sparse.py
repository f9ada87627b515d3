"""Products with constant sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad
from tests.support.gradients import check

sparse = pytest.importorskip("scipy.sparse")
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
