"""Electromagnetic waves in a box: leapfrog on staggered grids (FDTD)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def leapfrog_waves(ez: Array, speed: Array, source: Array) -> float:
    """Return the energy of the electric field after one step for each sample of the source."""
    size = len(ez)
    hx = np.zeros((size, size - 1))
    hy = np.zeros((size - 1, size))
    for sample in source:
        hx -= 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy += 0.5 * (ez[1:, :] - ez[:-1, :])
        ez[1:-1, 1:-1] += speed * (hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1])
        ez[size // 2, size // 3] += sample
    return np.sum(ez * ez)


def leapfrog_waves_adjoint(
    ez: Array, speed: Array, source: Array
) -> tuple[float, tuple[Array, Array, Array]]:
    """Store the curl of each step, the only factor that the adjoint of the product reads."""
    size = len(ez)
    steps = len(source)
    curls = np.empty((steps, size - 2, size - 2))
    hx = np.zeros((size, size - 1))
    hy = np.zeros((size - 1, size))
    for curl, sample in zip(curls, source, strict=True):
        hx -= 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy += 0.5 * (ez[1:, :] - ez[:-1, :])
        np.subtract(hy[1:, 1:-1], hy[:-1, 1:-1], out=curl)
        curl -= hx[1:-1, 1:]
        curl += hx[1:-1, :-1]
        ez[1:-1, 1:-1] += speed * curl
        ez[size // 2, size // 3] += sample

    dez = 2.0 * ez
    dhx = np.zeros_like(hx)
    dhy = np.zeros_like(hy)
    dspeed = np.zeros_like(speed)
    dsource = np.empty(steps)
    for step in range(steps - 1, -1, -1):
        dsource[step] = dez[size // 2, size // 3]
        dspeed += curls[step] * dez[1:-1, 1:-1]
        g = speed * dez[1:-1, 1:-1]
        dhy[1:, 1:-1] += g
        dhy[:-1, 1:-1] -= g
        dhx[1:-1, 1:] -= g
        dhx[1:-1, :-1] += g
        g = 0.5 * dhy
        dez[1:, :] += g
        dez[:-1, :] -= g
        g = 0.5 * dhx
        dez[:, 1:] -= g
        dez[:, :-1] += g
    return np.sum(ez * ez), (dez, dspeed, dsource)


def _box(size: int) -> tuple[Any, ...]:
    random = generator()
    field = random.standard_normal((size, size))
    speed = 0.4 + 0.1 * random.random((size - 2, size - 2))
    return field, speed, np.sin(np.linspace(0.0, 3.0, 20))


KERNELS = (
    Kernel(
        "leapfrog_waves",
        "vector",
        leapfrog_waves,
        _box,
        (50, 300),
        (0, 1, 2),
        leapfrog_waves_adjoint,
    ),
)
