"""Alternating directions (ADI): heat flow, implicit along one axis at a time."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def alternating_directions(u: Array, steps: int) -> float:
    """Peaceman-Rachford steps of the heat equation on a square, with fixed edges.

    The elimination factors `p` depend on no data and are overwritten by each sweep, while the
    eliminated right sides `q` divide data by them: an adjoint must restore `p` all the same.
    """
    r = 0.4
    half = u.copy()
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    last = len(u) - 1
    for _ in range(steps):
        # Implicit along the second axis, explicit along the first.
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, last):
            right = u[1:-1, j] + r * (u[2:, j] - 2.0 * u[1:-1, j] + u[:-2, j])
            p[1:-1, j] = r / (1.0 + 2.0 * r - r * p[1:-1, j - 1])
            q[1:-1, j] = (right + r * q[1:-1, j - 1]) / (1.0 + 2.0 * r - r * p[1:-1, j - 1])
        for j in range(last - 1, 0, -1):
            half[1:-1, j] = p[1:-1, j] * half[1:-1, j + 1] + q[1:-1, j]
        # Implicit along the first axis, explicit along the second.
        p[0, 1:-1] = 0.0
        q[0, 1:-1] = half[0, 1:-1]
        for i in range(1, last):
            right = half[i, 1:-1] + r * (half[i, 2:] - 2.0 * half[i, 1:-1] + half[i, :-2])
            p[i, 1:-1] = r / (1.0 + 2.0 * r - r * p[i - 1, 1:-1])
            q[i, 1:-1] = (right + r * q[i - 1, 1:-1]) / (1.0 + 2.0 * r - r * p[i - 1, 1:-1])
        for i in range(last - 1, 0, -1):
            u[i, 1:-1] = p[i, 1:-1] * u[i + 1, 1:-1] + q[i, 1:-1]
    return np.sum(u * u)


def _grid(size: int) -> tuple[Array, int]:
    return generator().standard_normal((size, size)), 1


KERNELS = (Kernel("alternating_directions", "vector", alternating_directions, _grid, (100, 400)),)
