"""Recurrences along an axis: by elements, by rows, and by doubling."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def recurrence(x: Array, decay: Array) -> float:
    """Run x[i] += decay[i] * x[i - 1]; rows of a matrix if the arrays have two axes."""
    for i in range(1, len(x)):
        x[i] += decay[i] * x[i - 1]
    return np.sum(x * x)


def recurrence_adjoint(x: Array, decay: Array) -> tuple[float, tuple[Array, Array]]:
    """Run the recurrence backwards; the factors are the final values of x."""
    value = recurrence(x, decay)
    dx = 2.0 * x
    for i in range(len(x) - 1, 0, -1):
        dx[i - 1] += decay[i] * dx[i]
    ddecay = np.zeros_like(decay)
    np.multiply(dx[1:], x[:-1], out=ddecay[1:])
    return value, (dx, ddecay)


def prefix_doubling(x: Array) -> float:
    """Prefix sums in log n overlapping updates, repeated on the damped result."""
    for _ in range(5):
        shift = 1
        while shift < len(x):
            x[shift:] += x[:-shift]
            shift *= 2
        x *= 1.0 / len(x)
        x += 1.0
    return np.sum(x * x)


def _line(size: int) -> tuple[Any, ...]:
    random = generator()
    return random.standard_normal(size), 0.9 * random.random(size)


def _rows(size: int) -> tuple[Any, ...]:
    random = generator()
    return random.standard_normal((100, size)), 0.9 * random.random((100, size))


def _long(size: int) -> tuple[Array]:
    return (generator().standard_normal(size),)


_BOTH = (0, 1)
KERNELS = (
    Kernel("recurrence", "elements", recurrence, _line, (2000,), _BOTH, recurrence_adjoint),
    Kernel(
        "recurrence_rows", "vector", recurrence, _rows, (4000, 20_000), _BOTH, recurrence_adjoint,
        tiny=(1000,),
    ),
    Kernel("prefix_doubling", "vector", prefix_doubling, _long, (2000, 100_000)),
)  # fmt: skip
