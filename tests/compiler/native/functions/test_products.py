"""Products of arrays with any number of axes in compiled functions."""

from __future__ import annotations

import pytest

from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "np.sum((T @ T)[1] * A) + np.sum((T @ x) * A) + np.sum((x @ T) * B)",
    "np.sum(np.matmul(A, T)[2] * B) + np.sum((T[:, None] @ T[:2])[1, 0] * A)",
    "np.sum(np.dot(T, x) * A) + np.sum(np.dot(T, T)[1, 2] * T[0]) + np.sum(np.dot(A, T)[0] * B)",
    "np.sum(np.tensordot(A, B, 1) * T[0]) + np.sum(np.tensordot(T, A, ([0, 2], [1, 0])) * x)",
    "np.sum(np.tensordot(T, x, axes=(1, 0)) * A) + np.sum(np.tensordot(x, y, 0) * B)",
    "np.sum(np.inner(A, B) * T[0]) + np.sum(np.inner(T, x) * A) + np.sum(np.inner(x, 2.0))",
    "np.vdot(A, B) * np.vdot(x, y) + np.sum(np.outer(A[:1], y) * B) + np.sum(np.outer(x, [1.0]))",
    "np.sum(np.kron(A[:2, :2], B)[3:8, 2:7] * T[0]) + np.sum(np.kron(x, A)[1:2, :5] * y)",
    "np.sum(np.cross(A[:, :3], x[:3]) * B[:, 1:4]) + np.sum(np.cross(x[:3], y[:3]) * x[1:4])",
    "np.sum(np.linalg.multi_dot([A, B, x]) * y) + np.sum(np.linalg.matrix_power(A, 3) * B)",
    "np.dot([x[0], 1.0], [2.0, y[0]]) + np.sum((A @ [x[0], 1, 2, 3, 4.0]) * y)",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)
