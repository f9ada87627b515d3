"""Cases for the trees of `scipy.spatial`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

ss: Any = scipy.spatial
SITES = np.array([[0.1, 0.3], [1.2, -0.4], [0.5, 1.6], [2.0, 0.9], [1.7, 1.9]])
constant_tree = ss.KDTree(SITES)
periodic_tree = ss.cKDTree(np.mod(SITES, 2.0), boxsize=[2.0, 0.0])


def nearest(x: Any, **options: Any) -> Any:
    distances, found = constant_tree.query(x, **options)
    return np.where(np.isfinite(distances), distances, 3.0), found * 1.0


def nearest_in_a_box(x: Any) -> Any:
    return periodic_tree.query(x, 2)[0]


def nearest_of_moving(points: Any, x: Any, kind: Any) -> Any:
    return kind(points).query(x, 2)[0]


def around(x: Any, tree: Any) -> Any:
    return SITES[tree.query_ball_point(x[0], 1.4, return_sorted=True)].sum(0) * x


def pairs_of_moving(points: Any) -> Any:
    first, second = ss.KDTree(points).query_pairs(1.5, output_type="ndarray").T
    return points[first] - points[second]


def cases() -> list[Case]:
    """All cases of the family."""
    x, options = (
        np.array([[0.83, 0.57], [1.42, 1.31], [1.93, 0.22]]),
        {**PLAIN, "special_points": False},
    )
    return [
        *(
            Case(nearest, (x,), given, f"{given}", options=options, covers=(ss.cKDTree.query,))
            for given in ({}, {"k": 3}, {"k": [2]}, {"p": 1}, {"p": np.inf},
                          {"k": 4, "distance_upper_bound": 1.3})
        ),
        Case(nearest, (x[0],), {"k": 2}, "point", options=options),
        Case(nearest, (np.stack([x, x + 0.1]),), label="stack", options=options),
        Case(nearest_in_a_box, (x,), options=options),
        *(
            Case(nearest_of_moving, (SITES + draw(5, 2) / 9, x, kind), label=kind.__name__,
                 options=options, covers=(kind,))
            for kind in (ss.KDTree, ss.cKDTree)
        ),
        Case(around, (x, constant_tree), options=options, covers=(ss.cKDTree.query_ball_point,)),
        Case(pairs_of_moving, (SITES + 0.01,), options=options, covers=(ss.cKDTree.query_pairs,)),
    ]  # fmt: skip
