"""A Gaussian's log-likelihood from a factor that replaces the covariance in its own memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import slice_adjoints
from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def gaussian_likelihood(covariance: Array, x: Array) -> float:
    """Return the log-likelihood of x up to a constant; the factor is solved row by row."""
    covariance[:] = np.linalg.cholesky(covariance) + np.triu(covariance, k=1)
    for i in range(len(x)):
        x[i] = (x[i] - covariance[i, :i] @ x[:i]) / covariance[i, i]
    return -0.5 * np.dot(x, x) - np.sum(np.log(np.diagonal(covariance)))


def in_place_factor(a: Array) -> float:
    """Leave the factor below, the matrix above the diagonal, and return a norm of both."""
    a[:] = np.linalg.cholesky(a) + np.triu(a, k=1)
    return np.sum(a * a)


def _covariance(size: int) -> tuple[Array]:
    half = generator().standard_normal((size, size))
    return (half @ half.T / size + np.eye(size),)


def _sample(size: int) -> tuple[Any, ...]:
    return *_covariance(size), generator().standard_normal(size)


KERNELS = (
    Kernel(
        "in_place_factor",
        "slices",
        in_place_factor,
        _covariance,
        (60, 200),
        adjoint=slice_adjoints.in_place_factor,
    ),
    Kernel(
        "gaussian_likelihood",
        "slices",
        gaussian_likelihood,
        _sample,
        (60, 200),
        (0, 1),
        adjoint=slice_adjoints.gaussian_likelihood,
    ),
)
