"""Arrays that are repeated, appended, split, padded, or built of blocks, in compiled functions."""

from __future__ import annotations

import pytest

from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "z = np.append(x, [1.0, y[0]]); z[0] = 2.0; np.sum(z * z) + np.append(A, x)[7] + np.sum(x)",
    "np.sum(np.append(A, B[:2], axis=0) ** 2) + np.sum(np.append(x[1], y) * np.append(x, 3.0)[:6])",
    "np.repeat(x, 3)[4:9] @ y + np.sum(np.repeat(A, 2, axis=1)[:, 1:6] * B)",
    "np.sum(np.repeat(A.T, 2, axis=0)[::2] * B) + np.sum(np.repeat(T, 2)[3:8] * x)",
    "np.sum(np.tile(x, (2, 2))[1, 3:8] * y) + np.sum(np.tile(A[:, ::2], 2)[:, :5] * B)",
    "np.sum(np.block([[A, x[:, None]], [y, 2.0]]) ** 2) + np.sum(np.block([x, y[0]]) ** 3)",
    "np.sum(np.dstack([A, B])[1] * T[0, :, :2]) + np.sum(np.dstack([T, A])[0, 0] ** 2)",
    "u, v = np.split(x, [2]); u[0] = y[1]; np.sum(v * v) + np.sum(x * x)",
    "a, b, c, d, e = np.split(A, 5, axis=1); np.sum(a * e) + np.sum(c * x[:, None] * d)",
    "np.sum(np.pad(x, 2)[1:6] * y) + np.sum(np.pad(A, ((1, 0), (0, 2)), constant_values=x[0])**2)",
    "np.sum(np.pad(x, (2, 1), mode='edge') ** 2) + np.sum(np.pad(A, 1, 'wrap')[:5, 2:] * B)",
    "np.sum(np.pad(x, 3, 'reflect')[2:7] * y) + np.sum(np.pad(x, 4, 'symmetric')[:5] * y ** 2)",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)
