"""Deposit of weighted particles on a grid: each shares its weight between two cells."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]
_CELLS = 64


def deposit(x: Array, weights: Array) -> float:
    """Deposit all particles at once; cells meet repeated indices."""
    density = np.zeros(_CELLS)
    cell = np.floor(x).astype(np.int64)
    share = x - cell
    np.add.at(density, cell, weights * (1.0 - share))
    np.add.at(density, cell + 1, weights * share)
    return np.sum(density * density)


def deposit_loop(x: Array, weights: Array) -> float:
    """Deposit particle by particle."""
    density = np.zeros(_CELLS)
    for k in range(len(x)):
        cell = int(x[k])
        share = x[k] - cell
        density[cell] += weights[k] * (1.0 - share)
        density[cell + 1] += weights[k] * share
    return np.sum(density * density)


def deposit_adjoint(x: Array, weights: Array) -> tuple[float, tuple[Array, Array]]:
    """Gather the cotangents of the cells back to the particles."""
    density = np.zeros(_CELLS)
    cell = np.floor(x).astype(np.int64)
    share = x - cell
    np.add.at(density, cell, weights * (1.0 - share))
    np.add.at(density, cell + 1, weights * share)
    left = 2.0 * density[cell]
    slope = 2.0 * density[cell + 1] - left
    return np.sum(density * density), (weights * slope, left + share * slope)


def deposit_loop_adjoint(x: Array, weights: Array) -> tuple[float, tuple[Array, Array]]:
    """Gather particle by particle; cells and shares follow from the positions again."""
    density = np.zeros(_CELLS)
    for k in range(len(x)):
        cell = int(x[k])
        share = x[k] - cell
        density[cell] += weights[k] * (1.0 - share)
        density[cell + 1] += weights[k] * share
    value = np.sum(density * density)
    dx = np.empty_like(x)
    dweights = np.empty_like(weights)
    for k in range(len(x)):
        cell = int(x[k])
        share = x[k] - cell
        left = 2.0 * density[cell]
        slope = 2.0 * density[cell + 1] - left
        dx[k] = weights[k] * slope
        dweights[k] = left + share * slope
    return value, (dx, dweights)


def _particles(size: int) -> tuple[Any, ...]:
    random = generator()
    return (_CELLS - 1) * random.random(size), random.random(size)


_BOTH = (0, 1)
KERNELS = (
    Kernel(
        "deposit", "vector", deposit, _particles, (30_000,), _BOTH, deposit_adjoint, tiny=(1000,)
    ),
    Kernel(
        "deposit_loop", "elements", deposit_loop, _particles, (1000,), _BOTH, deposit_loop_adjoint
    ),
)
