"""Covariance and correlation of the columns of a table, one row of the result at a time."""

import numpy as np
from numpy.typing import NDArray

from benchmarks import slice_adjoints
from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def covariance(table: Array) -> float:
    """Centre the columns in place and fill a symmetric matrix from its upper rows."""
    rows, columns = table.shape
    table -= np.mean(table, axis=0)
    c = np.zeros((columns, columns))
    for i in range(columns):
        c[i, i:] = table[:, i] @ table[:, i:]
        c[i, i:] /= rows - 1.0
        c[i:, i] = c[i, i:]
    return np.sum(c * c)


def correlation(table: Array) -> float:
    """Scale the columns in place too; the diagonal is one, whatever the data."""
    rows, columns = table.shape
    spread = np.std(table, axis=0)
    spread[spread < 1e-6] = 1.0
    table -= np.mean(table, axis=0)
    table /= np.sqrt(rows) * spread
    c = np.eye(columns)
    for i in range(columns - 1):
        c[i, i + 1 :] = table[:, i] @ table[:, i + 1 :]
        c[i + 1 :, i] = c[i, i + 1 :]
    return np.sum(c * c)


def _table(size: int) -> tuple[Array]:
    random = generator()
    return (random.standard_normal((2 * size, size)) + random.standard_normal(size),)


KERNELS = (
    Kernel(
        "covariance", "slices", covariance, _table, (60, 200), adjoint=slice_adjoints.covariance
    ),
    Kernel(
        "correlation", "slices", correlation, _table, (60, 200), adjoint=slice_adjoints.correlation
    ),
)
