"""Toeplitz matrices: the recursion of Levinson and Durbin, by dots of growing slices."""

import numpy as np
from numpy.typing import NDArray

from benchmarks import slice_adjoints
from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def prediction(r: Array) -> float:
    """Return log det of the Toeplitz matrix with first row r, by the coefficients of prediction.

    Each step reverses what it has so far and updates it in place.
    """
    n = len(r)
    a = np.zeros(n - 1)
    error = r[0]
    total = np.log(error)
    for k in range(n - 1):
        reflection = -(r[k + 1] + np.dot(np.flip(r[1 : k + 1]), a[:k])) / error
        a[:k] += reflection * np.flip(a[:k])
        a[k] = reflection
        error *= 1.0 - reflection * reflection
        total += np.log(error)
    return total


def _autocorrelation(size: int) -> tuple[Array]:
    """Return a noisy signal's correlations with itself, of which the matrix is definite."""
    signal = np.cumsum(generator().standard_normal(4 * size))
    signal -= np.mean(signal)
    full = np.correlate(signal, signal, "full")[len(signal) - 1 :][:size]
    full[0] *= 1.5
    return (full / full[0],)


KERNELS = (
    Kernel(
        "prediction",
        "slices",
        prediction,
        _autocorrelation,
        (100, 400),
        adjoint=slice_adjoints.prediction,
    ),
)
