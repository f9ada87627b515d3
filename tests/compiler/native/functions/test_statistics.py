"""Averages, covariances, polynomials and convolutions in compiled functions."""

from __future__ import annotations

import pytest

from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "np.average(x) + np.average(x, weights=np.exp(y)) + np.sum(np.average(A, axis=0) * x)",
    "np.sum(np.average(A, 1, np.exp(x)) * y) + np.average(A, weights=np.exp(B))",
    "np.sum(np.cov(A) * B) + np.cov(x, y)[0, 1] + np.sum(np.cov(A[:, :2], rowvar=False, ddof=0))",
    "np.var(x, ddof=1) * np.std(y, ddof=1) + np.sum(A.var(axis=0, ddof=2) * x) + np.ptp(x)",
    "np.polyval(x, y[0]) + np.sum(np.polyval([1, 2.0, 3], A) * B)",
    "np.sum(np.convolve(x, y)[:5] * x) + np.convolve(x, y[:2], 'valid') @ x[:4]",
    "np.sum(np.correlate(x, y[:3]) * x[:3]) + np.correlate(x, y, 'full')[2:7] @ x",
    "np.sum(np.all(A > 0, axis=1) * x) + np.sum(np.any(A > 0.8, axis=0, keepdims=True) * A)",
    "I.sum(axis=0) @ x + (A > 0).sum(axis=1) @ y + np.mean(I) * x[0] + I.mean(axis=1) @ x",
    "np.mean(A > 0) * y[0] + np.sum(np.sum(I, axis=1, keepdims=True) * A)",
    "np.sum(np.select([x < -0.5, x < 0.5], [x * x, y], 1.0) * y)",
    "x[0] if np.allclose(A, A + 1e-12) and not np.isclose(A, B).any() else y[0]",
    "np.sum(np.clip(x, None, 0.3)) + np.clip(x[0], -0.1, 0.1) * y[0] + np.clip(I, 0, 1)[0] @ x",
    "np.sum(x.clip(min=y) * y)",
    "z = np.full_like(A, y[0]); z[0] = x; k = np.full(2, 3); np.sum(z * B) * k[0]",
    "z = np.ndarray((2, 5)); z[0] = x; z[1] = y; np.sum(z[0] * z[1]) + np.amax(x) * np.amin(y)",
    "np.sum(np.diag(x, 1)[:5, 1:] * B) + np.sum(np.diag(y) @ A * B) + np.diag(A, -1) @ x[1:]",
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)
