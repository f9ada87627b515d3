"""Compiled functions of SciPy take the elements of an array, of whatever class it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad

sp = pytest.importorskip("scipy.sparse")

X = np.array([1.5, -2.0, 0.5])
MATRIX: Any = np.array([[0.3, 0.0, 1.2], [0.7, -0.4, 0.0], [0.0, 2.0, 0.9]])


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "bsr", "lil"])
def test_a_sparse_matrix_multiplies_what_stands_under_a_mask(kind: Any, format: str) -> None:
    s: Any = kind(MATRIX).asformat(format)

    def vector(x: Any) -> Any:
        a = np.ma.array(x, mask=[False, True, False])
        b = s @ a
        x[:] = x[0]
        return a.filled(0.0).sum() + np.sum(np.asarray(b) ** 2)

    def vectors(x: Any) -> Any:
        masked = np.ma.array(np.outer(x, x), mask=np.eye(3, dtype=bool))
        return np.sum(np.asarray(s.dot(masked)) ** 2)

    for f in (vector, vectors):
        value, g = value_and_grad(f)(X)
        assert value == pytest.approx(f(X.copy()), rel=1e-14)
        h = 1e-6 * np.eye(3)
        expected = [(f(X + e) - f(X - e)) / 2e-6 for e in h]
        np.testing.assert_allclose(g, expected, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(jvp(f, (X,), (X,))[1], np.sum(g * X))
        np.testing.assert_allclose(grad(f, debug=True)(X), g)
