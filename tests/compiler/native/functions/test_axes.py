"""Functions that move, add and leave out axes, in compiled functions."""

from __future__ import annotations

import pytest

from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "np.sum(np.transpose(T, (2, 0, 1))[1] * A) + np.sum(T.transpose(1, 0, 2)[0] * T.transpose())",
    "np.sum(np.swapaxes(T, 0, -1)[2] * A) + np.sum(np.moveaxis(T, 0, -1)[1] @ x)",
    "np.sum(np.moveaxis(T, [0, 1], [-1, 0])[3] * B) + np.sum(A.swapaxes(0, 1) @ y)",
    "np.sum(np.expand_dims(x, 0) * np.expand_dims(y, (1, 2)) * T)",
    "np.sum(np.squeeze(A[:, :1]) * x) + np.squeeze(x[None, :, None], axis=(0, 2)) @ y",
    "np.sum(np.atleast_1d(x[0]) * y) + np.sum(np.atleast_2d(x) * A) + np.atleast_2d(A)[1] @ x",
    "np.sum(np.broadcast_to(x, (5, 5)) * A) + np.sum(np.broadcast_to(x[0], (2, 3)))",
    "u, v = np.broadcast_arrays(x, A); np.sum(u * v * v)",
    "X, Y = np.meshgrid(x, y[:4]); np.sum(X[1:] * Y[1:] ** 2 * A[1:4])",
    "X, Y, Z = np.meshgrid(x, y, x[:2], indexing='ij'); X[0] *= 3.0; np.sum(X * Y * Z + Y)",
    "np.sum(np.flipud(A) * B) + np.sum(np.fliplr(A)[0] * x)",
    "v = np.swapaxes(A, 0, 1); v[0] = x; np.sum(A * A) + np.sum(v * B)",
    "v = x[None]; w = np.squeeze(v); w *= 2.0; np.sum(x * x * y)",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


def test_what_is_broadcast_is_not_written(tried: list[bool]) -> None:
    f = function("v = np.broadcast_to(x, (5, 5)); v[0, 0] = 1.0; np.sum(v)")
    with pytest.raises(ValueError, match="read-only"):
        agree(f)
    assert True not in tried
