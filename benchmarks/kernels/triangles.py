"""Triangular and symmetric matrices, of which one half is read: products and solves by dots."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import slice_adjoints
from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def triangular_product(a: Array, b: Array) -> float:
    """Multiply b in place by the transpose of a, which is lower triangular with ones."""
    rows, columns = b.shape
    for i in range(rows):
        for j in range(columns):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
        b[i, :] *= 1.5
    return np.sum(b * b)


def triangular_solve(a: Array, x: Array) -> float:
    """Solve with the lower triangle of a, in the memory of the right side."""
    for i in range(len(x)):
        x[i] = (x[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


def symmetric_product(a: Array, b: Array, c: Array) -> float:
    """Multiply by a symmetric matrix of which the lower triangle is given."""
    rows, columns = b.shape
    below = np.empty(columns)
    c *= 1.2
    for i in range(rows):
        for j in range(columns):
            c[:i, j] += 1.5 * b[i, j] * a[i, :i]
            below[j] = b[:i, j] @ a[i, :i]
        c[i, :] += 1.5 * b[i, :] * a[i, i] + 1.5 * below
    return np.sum(c * c)


def lu_by_dots(a: Array) -> float:
    """Factorize in place, one element at a time, and return log det."""
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(np.log(np.diagonal(a)))


def _triangle(size: int) -> Array:
    return generator().standard_normal((size, size)) / np.sqrt(size) + 2.0 * np.eye(size)


def _factors(size: int) -> tuple[Any, ...]:
    return _triangle(size), generator().standard_normal((size, size // 2)) + 0.5


def _system(size: int) -> tuple[Any, ...]:
    return _triangle(size), generator().standard_normal(size)


def _three(size: int) -> tuple[Any, ...]:
    b, c = generator().standard_normal((2, size, size // 2))
    return _triangle(size), b, c


def _dominant(size: int) -> tuple[Array]:
    return (generator().standard_normal((size, size)) + 2.0 * size * np.eye(size),)


_BOTH = (0, 1)
KERNELS = (
    Kernel(
        "triangular_product",
        "slices",
        triangular_product,
        _factors,
        (40, 100),
        _BOTH,
        adjoint=slice_adjoints.triangular_product,
    ),
    Kernel(
        "triangular_solve",
        "slices",
        triangular_solve,
        _system,
        (300, 1500),
        _BOTH,
        adjoint=slice_adjoints.triangular_solve,
    ),
    Kernel(
        "symmetric_product",
        "slices",
        symmetric_product,
        _three,
        (40, 100),
        (0, 1, 2),
        adjoint=slice_adjoints.symmetric_product,
    ),
    Kernel(
        "lu_by_dots", "slices", lu_by_dots, _dominant, (40, 100), adjoint=slice_adjoints.lu_by_dots
    ),
)
