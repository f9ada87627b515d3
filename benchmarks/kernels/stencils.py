"""Stencils that update a grid in place: Jacobi in two dimensions, heat flow in three."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def jacobi_2d(u: Array, steps: int) -> float:
    """Replace each inner point by the mean of its neighbours, `steps` times."""
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return np.sum(u * u)


def jacobi_2d_adjoint(u: Array, steps: int) -> tuple[float, tuple[Array]]:
    """Reverse the steps; they are linear, so nothing needs to be stored."""
    value = jacobi_2d(u, steps)
    du = 2.0 * u
    for _ in range(steps):
        g = 0.25 * du[1:-1, 1:-1]
        du[1:-1, 1:-1] = 0.0
        du[2:, 1:-1] += g
        du[:-2, 1:-1] += g
        du[1:-1, 2:] += g
        du[1:-1, :-2] += g
    return value, (du,)


def heat_3d(u: Array, steps: int) -> float:
    """Explicit Euler steps of the heat equation with fixed faces."""
    for _ in range(steps):
        u[1:-1, 1:-1, 1:-1] += 0.1 * (
            u[2:, 1:-1, 1:-1]
            + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:]
            + u[1:-1, 1:-1, :-2]
            - 6.0 * u[1:-1, 1:-1, 1:-1]
        )
    return np.sum(u * u)


def heat_3d_adjoint(u: Array, steps: int) -> tuple[float, tuple[Array]]:
    """Reverse the steps; they are linear, so nothing needs to be stored."""
    value = heat_3d(u, steps)
    du = 2.0 * u
    for _ in range(steps):
        g = 0.1 * du[1:-1, 1:-1, 1:-1]
        du[2:, 1:-1, 1:-1] += g
        du[:-2, 1:-1, 1:-1] += g
        du[1:-1, 2:, 1:-1] += g
        du[1:-1, :-2, 1:-1] += g
        du[1:-1, 1:-1, 2:] += g
        du[1:-1, 1:-1, :-2] += g
        g *= 6.0
        du[1:-1, 1:-1, 1:-1] -= g
    return value, (du,)


def _square(size: int) -> tuple[Array, int]:
    return generator().standard_normal((size, size)), 20


def _cube(size: int) -> tuple[Array, int]:
    return generator().standard_normal((size, size, size)), 10


KERNELS = (
    Kernel("jacobi_2d", "vector", jacobi_2d, _square, (50, 400), adjoint=jacobi_2d_adjoint),
    Kernel("heat_3d", "vector", heat_3d, _cube, (16, 60), adjoint=heat_3d_adjoint),
)
