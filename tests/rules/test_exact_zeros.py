"""A zero cotangent meets an infinite factor or nan: element by element it contributes zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad
from mooncake_py.rules.exact_zeros import sum_of_products, surely_finite

INF, NAN = np.inf, np.nan
SPOILT = np.array([[1.0, 2.0, 3.0], [INF, NAN, -INF], [4.0, 5.0, 6.0]])
SOUND = np.where(np.isfinite(SPOILT), SPOILT, 0.5)
USED = np.array([0, 2])


def sound_rows(y: Any) -> Any:
    """Sum the rows that nothing spoilt has entered, with different weights."""
    return np.sum(y[USED].T * np.array([1.0, 3.0]))


def in_place(x: Any, a: Any) -> Any:
    y = np.zeros(3)
    np.matmul(a, x, out=y)
    return sound_rows(y)


OF_A_VECTOR: dict[str, Any] = {
    "matmul": lambda x, a: sound_rows(a @ x),
    "matmul-left": lambda x, a: sound_rows(x @ a.T),
    "matmul-matrices": lambda x, a: sound_rows(a @ (x[:, None] * x)),
    "matmul-stack": lambda x, a: sound_rows(a[:, None, :] @ x[:, None]),
    "matmul-out": in_place,
    "dot": lambda x, a: sound_rows(np.dot(a, x)),
    "inner": lambda x, a: sound_rows(np.inner(a, x)),
    "tensordot": lambda x, a: sound_rows(np.tensordot(a, x, 1)),
    "einsum": lambda x, a: sound_rows(np.einsum("ij,j->i", a, x)),
    "einsum-three": lambda x, a: sound_rows(np.einsum("ij,j,k->ik", a, x, x)),
    "outer": lambda x, a: sound_rows(np.outer(a[:, 0], x)),
    "multiply-outer": lambda x, a: sound_rows(np.multiply.outer(x, a[:, 1]).T),
    "kron": lambda x, a: sound_rows(np.kron(a[:, 0], x).reshape(3, 3)),
    "vecdot": lambda x, a: sound_rows(np.vecdot(a, x)),
    "cross": lambda x, a: np.cross(x, a[:, 0])[1],
    "convolve": lambda x, a: np.convolve(x, a[:2, 0])[0],
    "correlate": lambda x, a: np.correlate(x, a[:2, 0], "full")[-1],
    "multi_dot": lambda x, a: sound_rows(np.linalg.multi_dot([a, np.diag(x), a[USED].T])),
    "solve": lambda x, a: np.linalg.solve(np.diag(x), a.T)[:, USED].sum(),
    "average": lambda x, a: sound_rows(np.average(a, axis=1, weights=x)),
    "trapezoid": lambda x, a: sound_rows(np.trapezoid(a, x, axis=1)),
    "polyval": lambda x, a: sound_rows(np.polyval(x, a[:, 0])),
}

OF_THE_MATRIX: dict[str, Any] = {
    "prod": lambda a: sound_rows(np.prod(a, axis=1)),
    "cumprod": lambda a: sound_rows(np.cumprod(a, axis=1)),
    "cumprod-before": lambda a: np.cumprod(a, axis=0)[0].sum(),
    "var": lambda a: sound_rows(np.var(a, axis=1)),
    "std": lambda a: sound_rows(np.std(a, axis=1)),
    "nanvar": lambda a: sound_rows(np.nanvar(a, axis=1)),
    "norm": lambda a: sound_rows(np.linalg.norm(a, axis=1)),
    "interp": lambda a: (
        np.interp([1.5], [0.0, 1.0, 2.0], a[::2].ravel()[:3])[0]
        + np.interp([0.5, 2.5], [0.0, 1.0, 2.0, 3.0], a[:2].ravel()[:4])[0]
    ),
    "vander": lambda a: np.vander(a[:, 0])[USED].sum(),
}


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", OF_A_VECTOR.values(), ids=OF_A_VECTOR.keys())
def test_unused_rows_of_a_factor_contribute_zero(f: Any) -> None:
    x = np.array([0.5, 1.5, 2.5])
    assert_allclose(grad(f)(x, SPOILT), grad(f)(x, SOUND), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", OF_THE_MATRIX.values(), ids=OF_THE_MATRIX.keys())
def test_unused_rows_get_a_zero_gradient(f: Any) -> None:
    assert_allclose(grad(f)(SPOILT), grad(f)(SOUND), rtol=1e-12)


STACK = np.stack([np.array([[2.0, 1.0], [1.0, 3.0]]), np.full((2, 2), NAN)])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["cholesky", "det", "inv", "qr", "slogdet", "solve"])
def test_unused_matrices_of_a_stack_get_a_zero_gradient(name: str) -> None:
    def f(stack: Any) -> Any:
        rest = (np.ones((2, 2, 1)),) if name == "solve" else ()
        y = getattr(np.linalg, name)(stack, *rest)
        return np.sum((y[-1] if isinstance(y, tuple) else y)[0])

    expected = np.stack([grad(f)(STACK[:1].repeat(2, 0))[0], np.zeros((2, 2))])
    assert_allclose(grad(f)(STACK), expected)


def test_what_an_infinite_factor_reaches_stays_infinite() -> None:
    assert_array_equal(grad(lambda x: np.dot(x, [INF, 1.0]))(np.ones(2)), [INF, 1.0])
    got = grad(lambda x: (SPOILT @ x)[1])(np.ones(3))
    assert_array_equal(got, [INF, NAN, -INF])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_infinite_terms_of_opposite_sign_are_not_taken_for_zero() -> None:
    dy, a = np.array([1.0, -1.0, 0.0]), np.array([INF, INF, 2.0])
    assert np.isnan(sum_of_products(np.dot, dy, a))
    a = np.array([2.0, INF, INF])
    assert not np.isfinite(sum_of_products(np.cross, np.ones(3), a)[0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_surely_finite() -> None:
    assert surely_finite(np.ones((2, 3)))
    assert surely_finite(1.0)
    for bad in (INF, NAN, complex(0, INF), complex(NAN, 0)):
        assert not surely_finite(bad)
        assert not surely_finite(np.array([1.0, bad]))
