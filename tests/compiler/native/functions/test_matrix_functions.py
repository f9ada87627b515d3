"""Functions of `scipy.linalg` in compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import agree, copies, function, require_compiled
from tests.programs.comparing import function_of

pytest.importorskip("scipy")
pytestmark = pytest.mark.plain

IMPORTS = "from scipy import linalg"
REGULAR = "P = A @ A.T + 5 * np.eye(5); S = A + 6 * np.eye(5); "
COMPILED = [
    "np.sum(linalg.solve(S, x) * y) + np.sum(linalg.solve(P, B, assume_a='pos') * A)",
    "np.sum(linalg.inv(S, check_finite=False) * B) + linalg.det(S) * 1e-4",
    "np.sum(linalg.cholesky(P) * B) + np.sum(linalg.cholesky(P, lower=True)[:, 0])",
    "c, low = linalg.cho_factor(P); linalg.cho_solve((c, low), x) @ y + np.sum(c * B)",
    "np.sum(linalg.cho_solve(linalg.cho_factor(P, lower=True), B) * A)",
    "np.sum(linalg.solve_triangular(S, x) * y) + np.sum(linalg.solve_triangular(S, B, lower=True))",
    "linalg.solve_triangular(S, x, 1) @ y + linalg.solve_triangular(S, y, 'T', lower=True)[1]",
    "M = linalg.block_diag(A, B[:2], x, y[0]); M[0, 0] = 3.0; np.sum(M * M) + np.sum(A)",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(REGULAR + text, IMPORTS)
    agree(f)
    require_compiled(f, tried)


def test_what_has_no_factor_raises_as_before(tried: list[bool]) -> None:
    f: Any = function("np.sum(linalg.cho_solve(linalg.cho_factor(-A @ A.T), x))", IMPORTS)
    for way in (False, True):
        with pytest.raises(np.linalg.LinAlgError):
            value_and_grad(f, compile=way)(*copies())
    assert True not in tried


@pytest.mark.parametrize("text", ["linalg.inv(A)", "linalg.solve_triangular(A, A[0], trans=1)"])
def test_matrices_that_are_not_finite_raise_as_in_scipy(text: str) -> None:
    f = function_of(f"from scipy import linalg\ndef f(A):\n    return {text}.sum()\n", f"<{text}>")
    A = 3.0 * np.eye(3) + 0.1
    assert value_and_grad(f, compile=True)(A.copy())[0] == pytest.approx(f(A), rel=1e-13)
    A[1, 0] = np.inf
    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        value_and_grad(f, compile=True)(A)
