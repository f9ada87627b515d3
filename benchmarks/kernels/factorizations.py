"""Factorisations of a matrix in its own memory: Cholesky, LU, Gram-Schmidt.

Each returns a logarithm of the determinant, whose gradient has a closed form.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def cholesky(a: Array) -> float:
    """Return log det of a positive definite matrix; only its lower triangle matters."""
    n = len(a)
    for k in range(n):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k + 1 :, k])
    return 2.0 * np.sum(np.log(np.diagonal(a)))


def lu(a: Array) -> float:
    """Return log det of a diagonally dominant matrix (no pivoting)."""
    n = len(a)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
    return np.sum(np.log(np.diagonal(a)))


def lu_adjoint(a: Array) -> tuple[float, tuple[Array]]:
    """Walk the elimination backwards, reading the factors that it left in place."""
    value = lu(a)
    da = np.zeros_like(a)
    np.fill_diagonal(da, 1.0 / np.diagonal(a))
    for k in range(len(a) - 2, -1, -1):
        below = a[k + 1 :, k]
        beside = a[k, k + 1 :]
        rest = da[k + 1 :, k + 1 :]
        da[k, k + 1 :] -= below @ rest
        dbelow = da[k + 1 :, k]
        dbelow -= rest @ beside
        dbelow /= a[k, k]
        da[k, k] -= dbelow @ below
    return value, (da,)


def gram_schmidt(a: Array) -> float:
    """Orthonormalise the columns in place (modified form); return the log of their volume."""
    columns = a.shape[1]
    norms = np.empty(columns)
    for k in range(columns):
        norms[k] = np.sqrt(np.sum(a[:, k] ** 2))
        a[:, k] /= norms[k]
        a[:, k + 1 :] -= np.outer(a[:, k], a[:, k] @ a[:, k + 1 :])
    return np.sum(np.log(norms))


def _definite(size: int) -> tuple[Array]:
    half = generator().standard_normal((size, size))
    return (half @ half.T + size * np.eye(size),)


def _dominant(size: int) -> tuple[Array]:
    return (generator().standard_normal((size, size)) + 2.0 * size * np.eye(size),)


def _tall(size: int) -> tuple[Array]:
    return (generator().standard_normal((2 * size, size)),)


KERNELS = (
    Kernel("cholesky", "elements", cholesky, _definite, (50, 200)),
    Kernel("lu", "elements", lu, _dominant, (50, 200), adjoint=lu_adjoint),
    Kernel("gram_schmidt", "elements", gram_schmidt, _tall, (40, 120)),
)
