"""Kernels rewritten without writes in place, for peers that cannot differentiate those.

Each computes the same value as the kernel of the same name; a test compares them. They are here
only to give a peer something to run: `mooncake_py` is always timed on the unmodified kernel.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def jacobi_2d(u: Array, steps: int) -> float:
    """Frame the new inner points by the old edges."""
    for _ in range(steps):
        inner = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        middle = np.concatenate((u[1:-1, :1], inner, u[1:-1, -1:]), axis=1)
        u = np.concatenate((u[:1], middle, u[-1:]), axis=0)
    return np.sum(u * u)


def heat_3d(u: Array, steps: int) -> float:
    """Add the inner change, framed by zeros."""
    for _ in range(steps):
        change = 0.1 * (
            u[2:, 1:-1, 1:-1]
            + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:]
            + u[1:-1, 1:-1, :-2]
            - 6.0 * u[1:-1, 1:-1, 1:-1]
        )
        u = u + np.pad(change, 1, mode="constant")
    return np.sum(u * u)


def leapfrog_waves(ez: Array, speed: Array, source: Array) -> float:
    """Add the inner change framed by zeros, and the source through a mask."""
    size = len(ez)
    place = np.zeros((size, size))
    place[size // 2, size // 3] = 1.0
    hx = np.zeros((size, size - 1))
    hy = np.zeros((size - 1, size))
    for step in range(len(source)):
        hx = hx - 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy = hy + 0.5 * (ez[1:, :] - ez[:-1, :])
        curl = hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1]
        ez = ez + np.pad(speed * curl, 1, mode="constant") + source[step] * place
    return np.sum(ez * ez)


def recurrence(x: Array, decay: Array) -> float:
    """Keep the values of a recurrence in a list."""
    last = x[0]
    total = np.sum(last * last)
    for i in range(1, len(x)):
        last = x[i] + decay[i] * last
        total = total + np.sum(last * last)
    return total


def pendulum(angle: float, speed: float, steps: int) -> float:
    """Take the sine from NumPy instead of the standard library."""
    for _ in range(steps):
        speed = speed - 0.01 * np.sin(angle)
        angle = angle + 0.01 * speed
    return angle * angle + speed * speed


FUNCTIONAL: dict[str, Callable[..., Any]] = {
    "jacobi_2d": jacobi_2d,
    "heat_3d": heat_3d,
    "leapfrog_waves": leapfrog_waves,
    "recurrence": recurrence,
    "recurrence_rows": recurrence,
    "pendulum": pendulum,
}
