"""Advection by differences taken against the flow: Burgers' equation on a line."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def upwind(u: Array, steps: int) -> float:
    """Return the energy after some steps; the speed at a point is the value there."""
    for _ in range(steps):
        rightwards = np.maximum(u[1:-1], 0.0) * (u[1:-1] - u[:-2])
        leftwards = np.minimum(u[1:-1], 0.0) * (u[2:] - u[1:-1])
        u[1:-1] -= 0.4 * (rightwards + leftwards)
    return 0.5 * np.sum(u * u)


def _waves(size: int) -> tuple[Array, int]:
    x = np.linspace(0.0, 6.0, size)
    return np.sin(x) + 0.1 * generator().standard_normal(size), 20


KERNELS = (Kernel("upwind", "vector", upwind, _waves, (2000, 100_000)),)
