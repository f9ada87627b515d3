"""Sparse matrices in compressed rows: products with a vector, row by row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import slice_adjoints
from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def sparse_rows(data: Array, columns: Any, starts: Any, x: Array) -> float:
    """Multiply twice, as a step of an iteration does, and return the squared norm."""
    for _ in range(2):
        y = np.empty(len(starts) - 1)
        for i in range(len(starts) - 1):
            here = columns[starts[i] : starts[i + 1]]
            y[i] = data[starts[i] : starts[i + 1]] @ x[here]
        x = y
    return np.sum(x * x)


def _compressed(size: int) -> tuple[Any, ...]:
    random = generator()
    counts = random.integers(2, 9, size)
    starts = np.concatenate([[0], np.cumsum(counts)])
    columns = np.concatenate([np.sort(random.choice(size, n, replace=False)) for n in counts])
    return random.standard_normal(len(columns)) / 3.0, columns, starts, random.standard_normal(size)


KERNELS = (
    Kernel(
        "sparse_rows",
        "slices",
        sparse_rows,
        _compressed,
        (300, 3000),
        (0, 3),
        adjoint=slice_adjoints.sparse_rows,
    ),
)
