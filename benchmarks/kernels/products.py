"""Symmetric rank-k and rank-2k products, row by row into the lower triangle."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def symmetric_rank_k(c: Array, a: Array) -> float:
    """Update the lower triangle of c by a product of a with its transpose."""
    rows, inner = a.shape
    for i in range(rows):
        c[i, : i + 1] *= 0.5
        for k in range(inner):
            c[i, : i + 1] += 1.5 * a[i, k] * a[: i + 1, k]
    return np.sum(c * c)


def symmetric_rank_2k(c: Array, a: Array, b: Array) -> float:
    """Update the lower triangle of c by the symmetric product of a and b."""
    rows, inner = a.shape
    for i in range(rows):
        c[i, : i + 1] *= 0.5
        for k in range(inner):
            c[i, : i + 1] += a[: i + 1, k] * (1.5 * b[i, k]) + b[: i + 1, k] * (1.5 * a[i, k])
    return np.sum(c * c)


def _one_factor(size: int) -> tuple[Any, ...]:
    random = generator()
    return random.standard_normal((size, size)), random.standard_normal((size, 4))


def _two_factors(size: int) -> tuple[Any, ...]:
    return *_one_factor(size), generator().standard_normal((size, 4)) + 1.0


KERNELS = (
    Kernel("symmetric_rank_k", "elements", symmetric_rank_k, _one_factor, (100, 500), (0, 1)),
    Kernel("symmetric_rank_2k", "elements", symmetric_rank_2k, _two_factors, (100, 500), (0, 1, 2)),
)
