"""Rules for `scipy.spatial`: which points are neighbours is a constant, how far they are is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial
from numpy import ndarray

from mooncake_py.rules.declare import overlay, zero_derivative

__all__ = ["Tree"]

ss: Any = scipy.spatial
plain_query = ss.cKDTree.query
plain_query_ball_point = ss.cKDTree.query_ball_point


def neighbours(tree: Any, x: Any, k: Any, eps: Any, p: Any, bound: Any, workers: int) -> ndarray:
    """Return the indices of the nearest points; the number of points stands for none."""
    return np.asarray(plain_query(tree, x, k, eps, p, bound, workers)[1])


def tree_of(data: Any, *options: Any) -> Any:
    """Return a tree of plain numbers."""
    return plain_tree(data, *options)


def points_around(tree: Any, x: Any, r: Any, *options: Any) -> Any:
    """Return the indices of the points in balls."""
    return plain_query_ball_point(tree, x, r, *options)


zero_derivative(neighbours, tree_of, points_around, because="which points are neighbours")
zero_derivative(ss.cKDTree.query_pairs, because="returns indices")
plain_tree = ss.KDTree


def distances(data: Any, x: Any, found: Any, p: Any, box: Any) -> Any:
    """Return how far points are from those that were found; infinity where there is none.

    `box` has the periods of the axes, zero for none.
    """
    absent = found == len(data)
    x = np.asarray(x, np.float64)
    for _ in range(np.ndim(found) - (x.ndim - 1)):
        x = x[..., None, :]
    gaps = np.asarray(data)[np.where(absent, 0, found)] - x
    if box is not None:
        periods = np.where(box > 0, box, np.inf)
        gaps = gaps - np.where(box > 0, box, 0.0) * np.rint(gaps / periods)
    return np.where(absent, np.inf, np.linalg.norm(gaps, p, axis=-1))[()]


@overlay(ss.cKDTree.query)
def query(
    self: Any, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0,
    distance_upper_bound: Any = np.inf, workers: int = 1,
) -> Any:  # fmt: skip
    """Find the nearest points of a constant tree."""
    found = neighbours(self, x, k, eps, p, distance_upper_bound, workers)
    return distances(self.data, x, found, p, self.boxsize), found[()]


@overlay(ss.cKDTree.query_ball_point)
def query_ball_point(
    self: Any, x: Any, r: Any, p: Any = 2.0, eps: Any = 0.0, workers: int = 1,
    return_sorted: Any = None, return_length: bool = False,
) -> Any:  # fmt: skip
    """Find the points within balls, of a constant tree."""
    return points_around(
        self, np.asarray(x), np.asarray(r), p, eps, workers, return_sorted, return_length
    )


STEPS = frozenset({
    "boxsize", "count_neighbors", "indices", "leafsize", "query_ball_point", "query_ball_tree",
    "query_pairs", "size",
})  # fmt: skip


class Tree:
    """What a tree of active points is within a derivative."""

    def __getattr__(self, name: str) -> Any:
        """Return what has no derivative, such as which points are near, from the plain tree."""
        if name not in STEPS:
            raise AttributeError(f"'KDTree' object has no attribute {name!r} within a derivative")
        return getattr(self.tree, name)

    def __init__(self, data: Any, *options: Any) -> None:
        is_copied = options[2]
        self.data = np.array(data, np.float64, order="C", copy=True if is_copied else None)
        self.n, self.m = self.data.shape
        self.tree = tree_of(self.data, *options)

    def query(
        self, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0,
        distance_upper_bound: Any = np.inf, workers: int = 1,
    ) -> Any:  # fmt: skip
        """Find the nearest points."""
        found = neighbours(self.tree, x, k, eps, p, distance_upper_bound, workers)
        return distances(self.data, x, found, p, self.tree.boxsize), found[()]


@overlay(ss.KDTree, ss.cKDTree)
def tree(
    data: Any, leafsize: int = 10, compact_nodes: bool = True, copy_data: bool = False,
    balanced_tree: bool = True, boxsize: Any = None,
) -> Any:  # fmt: skip
    return Tree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)
