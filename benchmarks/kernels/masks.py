"""Masks: bodies that attract each other from afar, and an iteration that stops where it escapes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import slice_adjoints
from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def masked_bodies(positions: Array, velocities: Array, masses: Array, steps: int) -> float:
    """Kick, drift, kick, with a force by columns of x, y and z; return the kinetic energy."""
    force = attraction(positions, masses)
    for _ in range(steps):
        velocities += 0.005 * force
        positions += 0.01 * velocities
        force = attraction(positions, masses)
        velocities += 0.005 * force
    return 0.5 * np.sum(masses[:, None] * velocities**2)


def attraction(positions: Array, masses: Array) -> Array:
    """Return the accelerations; a body does not attract itself, nor those that touch it."""
    x, y, z = positions[:, 0:1], positions[:, 1:2], positions[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    pull = dx**2 + dy**2 + dz**2
    np.fill_diagonal(pull, 0.0)
    apart = pull > 0.01
    pull[apart] = pull[apart] ** -1.5
    pull[~apart] = 0.0
    return np.stack([(pull * d) @ masses for d in (dx, dy, dz)], axis=1)


def mandelbrot(re: Array, im: Array, steps: int) -> float:
    """Iterate z -> z^2 + c where z has not escaped; return a potential of all points."""
    c = re + 1j * im[:, None]
    z = np.zeros_like(c)
    for _ in range(steps):
        inside = np.abs(z) < 2.0
        z[inside] = z[inside] ** 2 + c[inside]
    return np.sum(np.log1p(np.abs(z) ** 2))


def _cluster(size: int) -> tuple[Any, ...]:
    random = generator()
    positions, velocities = random.standard_normal((2, size, 3))
    return positions, velocities, 0.5 + random.random(size), 5


def _plane(size: int) -> tuple[Array, Array, int]:
    return np.linspace(-1.9, 0.6, size), np.linspace(-1.1, 1.2, size), 8


KERNELS = (
    Kernel(
        "masked_bodies",
        "slices",
        masked_bodies,
        _cluster,
        (60, 200),
        (0, 1, 2),
        adjoint=slice_adjoints.masked_bodies,
    ),
    Kernel(
        "mandelbrot",
        "slices",
        mandelbrot,
        _plane,
        (60, 200),
        (0, 1),
        adjoint=slice_adjoints.mandelbrot,
    ),
)
