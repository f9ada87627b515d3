"""Thomas's elimination for tridiagonal systems: one system by elements, many systems by rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def thomas(lower: Array, diagonal: Array, upper: Array, right: Array) -> float:
    """Solve in place, and return the squared norm of the solution.

    Arrays of shape (n,) hold one system; arrays of shape (n, m) hold m systems side by side.
    """
    n = len(diagonal)
    for i in range(1, n):
        factor = lower[i] / diagonal[i - 1]
        diagonal[i] -= factor * upper[i - 1]
        right[i] -= factor * right[i - 1]
    right[n - 1] /= diagonal[n - 1]
    for i in range(n - 2, -1, -1):
        right[i] = (right[i] - upper[i] * right[i + 1]) / diagonal[i]
    return np.sum(right * right)


def thomas_adjoint(
    lower: Array, diagonal: Array, upper: Array, right: Array
) -> tuple[float, tuple[Array, Array, Array, Array]]:
    """Solve with the transposed matrix, whose elimination the forward pass has already done.

    With A x = b and L(x): A^T w = dL/dx, then dL/db = w and dL/dA[i, j] = -w[i] x[j].
    """
    value = thomas(lower, diagonal, upper, right)
    n = len(diagonal)
    # A = (I + F) U with F the factors and U the eliminated matrix, so U^T, then (I + F)^T.
    w = 2.0 * right
    w[0] /= diagonal[0]
    for i in range(1, n):
        w[i] = (w[i] - upper[i - 1] * w[i - 1]) / diagonal[i]
    for i in range(n - 2, -1, -1):
        w[i] -= lower[i + 1] / diagonal[i] * w[i + 1]
    dlower = np.zeros_like(lower)
    dupper = np.zeros_like(upper)
    dlower[1:] = -w[1:] * right[:-1]
    dupper[:-1] = -w[:-1] * right[1:]
    return value, (dlower, -w * right, dupper, w)


def _systems(shape: tuple[int, ...]) -> tuple[Any, ...]:
    random = generator()
    lower, upper, right = random.standard_normal((3, *shape))
    return lower, 4.0 + random.random(shape), upper, right


def _one(size: int) -> tuple[Any, ...]:
    return _systems((size,))


def _many(size: int) -> tuple[Any, ...]:
    return _systems((60, size))


_EVERY = (0, 1, 2, 3)
KERNELS = (
    Kernel("thomas", "elements", thomas, _one, (100, 1000), _EVERY, thomas_adjoint),
    Kernel(
        "thomas_many", "vector", thomas, _many, (20_000, 100_000), _EVERY, thomas_adjoint,
        tiny=(1000,),
    ),
)  # fmt: skip
