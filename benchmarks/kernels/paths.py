"""Shortest paths between all pairs of nodes (Floyd and Warshall)."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def shortest_paths(d: Array) -> float:
    """Lower the distances in place through each node in turn; return their sum."""
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[k], out=d)
    return np.sum(d)


def _graph(size: int) -> tuple[Array]:
    """Return lengths with a positive diagonal, so that no two ways to a node have equal length."""
    return (0.1 + generator().random((size, size)),)


KERNELS = (Kernel("shortest_paths", "vector", shortest_paths, _graph, (100, 250), tiny=(60,)),)
