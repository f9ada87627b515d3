"""Gauss-Seidel relaxation: each point uses the neighbours that were updated just before it."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def gauss_seidel(u: Array, sweeps: int) -> float:
    """Relax Laplace's equation point by point."""
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


def gauss_seidel_adjoint(u: Array, sweeps: int) -> tuple[float, tuple[Array]]:
    """Visit the points backwards; the updates are linear, so nothing needs to be stored."""
    value = gauss_seidel(u, sweeps)
    du = 2.0 * u
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(rows - 2, 0, -1):
            for j in range(columns - 2, 0, -1):
                g = 0.25 * du[i, j]
                du[i, j] = 0.0
                du[i - 1, j] += g
                du[i + 1, j] += g
                du[i, j - 1] += g
                du[i, j + 1] += g
    return value, (du,)


def seidel_rows(u: Array, sweeps: int) -> float:
    """Nine-point relaxation: a whole row by slices, then point by point along the row."""
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            u[i, 1:-1] += u[i - 1, :-2] + u[i - 1, 1:-1] + u[i - 1, 2:]
            u[i, 1:-1] += u[i, 2:] + u[i + 1, :-2] + u[i + 1, 1:-1] + u[i + 1, 2:]
            for j in range(1, columns - 1):
                u[i, j] += u[i, j - 1]
                u[i, j] /= 9.0
    return np.sum(u * u)


def _grid(size: int) -> tuple[Array, int]:
    return generator().standard_normal((size, size)), 2


KERNELS = (
    Kernel("gauss_seidel", "elements", gauss_seidel, _grid, (20, 60), adjoint=gauss_seidel_adjoint),
    Kernel("seidel_rows", "elements", seidel_rows, _grid, (20, 60)),
)
