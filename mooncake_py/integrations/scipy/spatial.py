"""Rules for `scipy.spatial`: which points are neighbours is a constant, how far they are is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial
from numpy import ndarray

from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.stand_ins import StandIn

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


def points_around_points(tree: Any, *args: Any, **options: Any) -> Any:
    """Return the indices of the points in balls about the points of another tree."""
    return tree.query_ball_tree(*args, **options)


def pairs_within(tree: Any, *args: Any, **options: Any) -> Any:
    """Return the indices of the pairs of near points."""
    return tree.query_pairs(*args, **options)


def counts_within(tree: Any, *args: Any, **options: Any) -> Any:
    """Return how many pairs of points of two trees are near."""
    return tree.count_neighbors(*args, **options)


def points_around(tree: Any, x: Any, r: Any, *options: Any) -> Any:
    """Return the indices of the points in balls."""
    return plain_query_ball_point(tree, x, r, *options)


zero_derivative(
    neighbours, tree_of, points_around, points_around_points, pairs_within, counts_within,
    because="which points are neighbours",
)  # fmt: skip
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


def with_distances(tree: Any, x: Any, found: Any, p: Any) -> Any:
    """Return how far the points are that were found, and which; Python's numbers for one."""
    gaps = distances(tree.data, x, found, p, tree.boxsize)
    return (gaps, found) if np.ndim(found) else (float(gaps), int(found))


@overlay(ss.cKDTree.query)
def query(
    self: Any, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0,
    distance_upper_bound: Any = np.inf, workers: int = 1,
) -> Any:  # fmt: skip
    """Find the nearest points of a constant tree, or of one that is called by its class."""
    if isinstance(self, Tree):
        return self.query(x, k, eps, p, distance_upper_bound, workers)
    found = neighbours(self, x, k, eps, p, distance_upper_bound, workers)
    return with_distances(self, x, found, p)


@overlay(ss.cKDTree.query_ball_point)
def query_ball_point(
    self: Any, x: Any, r: Any, p: Any = 2.0, eps: Any = 0.0, workers: int = 1,
    return_sorted: Any = None, return_length: bool = False,
) -> Any:  # fmt: skip
    """Find the points within balls, of a constant tree."""
    return points_around(
        plain_of(self), np.asarray(x), np.asarray(r), p, eps, workers, return_sorted, return_length
    )


class Tree(StandIn):
    """Stands for a tree of active points within a derivative; which points are near is constant."""

    _stands_for = ss.cKDTree

    def __init__(self, data: Any, *options: Any) -> None:
        is_copied = options[2]
        self.data = np.array(data, np.float64, order="C", copy=True if is_copied else None)
        self.n, self.m = self.data.shape
        self._plain = tree_of(self.data, *options)
        self.leafsize, self.boxsize = self._plain.leafsize, self._plain.boxsize
        self.indices, self.size = self._plain.indices, self._plain.size

    @property
    def mins(self) -> Any:
        """The least coordinate along each axis."""
        return np.amin(self.data, axis=0) if self.n else np.zeros(self.m)

    @property
    def maxes(self) -> Any:
        """The greatest coordinate along each axis."""
        return np.amax(self.data, axis=0) if self.n else np.zeros(self.m)

    def query(
        self, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0,
        distance_upper_bound: Any = np.inf, workers: int = 1,
    ) -> Any:  # fmt: skip
        """Find the nearest points."""
        found = neighbours(self._plain, x, k, eps, p, distance_upper_bound, workers)
        return with_distances(self, x, found, p)

    def query_ball_point(self, x: Any, r: Any, *args: Any, **options: Any) -> Any:
        """Find the points within balls."""
        return self._plain.query_ball_point(x, r, *args, **options)

    def query_ball_tree(self, other: Any, r: Any, *args: Any, **options: Any) -> Any:
        """Find the points within balls about the points of another tree."""
        return points_around_points(self._plain, plain_of(other), r, *args, **options)

    def query_pairs(self, r: Any, *args: Any, **options: Any) -> Any:
        """Find the pairs of near points."""
        return pairs_within(self._plain, r, *args, **options)

    def count_neighbors(self, other: Any, r: Any, *args: Any, **options: Any) -> Any:
        """Count the near pairs of points of two trees."""
        return counts_within(self._plain, plain_of(other), r, *args, **options)


class PythonTree(Tree):
    """Stands for a `KDTree`, whose class is derived from that of the other."""

    _stands_for = ss.KDTree

    def query(self, *args: Any, **options: Any) -> Any:
        """Find the nearest points; as of SciPy, the index is of a type of NumPy."""
        nearest, found = super().query(*args, **options)
        return nearest, np.intp(found) if isinstance(found, int) else found


def plain_of(tree: Any) -> Any:
    """Return the tree of plain numbers that is part of a tree of active points."""
    return tree._plain if isinstance(tree, Tree) else tree


@overlay(ss.cKDTree)
def c_tree(
    data: Any, leafsize: int = 16, compact_nodes: bool = True, copy_data: bool = False,
    balanced_tree: bool = True, boxsize: Any = None,
) -> Any:  # fmt: skip
    return Tree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)


@overlay(ss.KDTree)
def tree(
    data: Any, leafsize: int = 10, compact_nodes: bool = True, copy_data: bool = False,
    balanced_tree: bool = True, boxsize: Any = None,
) -> Any:  # fmt: skip
    return PythonTree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)
