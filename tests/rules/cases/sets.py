"""Cases for the distinct values of an array, and for sets of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import since

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    x, y, table = draw(5), draw(3, seed=1), draw(3, 4)
    repeated = np.array([3.0, 1.0, 3.0, 2.0, 1.0])
    return [
        Case(np.unique, (x,), label="values"),
        Case(np.unique, (x, True, True, True), label="all"),
        Case(np.unique, (table,), label="flat"),
        *(Case(np.unique, (table,), {"axis": axis}, f"axis={axis}") for axis in (0, 1, -1)),
        Case(np.unique, (draw(4, dtype=complex),), label="complex"),
        Case(np.unique, (repeated,), label="ties", interface_only=True),
        *since("2.3.0", Case(np.unique, (x,), {"sorted": False}, "unsorted")),
        Case(rows_repeated, (x,), options=PLAIN),
        Case(sums_of_groups, (x,), options=PLAIN),
        Case(np.unique_values, (x,), options=PLAIN),
        Case(np.unique_counts, (x,), options=PLAIN),
        Case(np.unique_inverse, (x,), options=PLAIN),
        Case(np.unique_all, (x,), options=PLAIN),
        Case(np.union1d, (x, y), options=PLAIN),
        Case(np.setxor1d, (x, y), options=PLAIN),
        Case(np.setdiff1d, (x, y), options=PLAIN),
        Case(np.intersect1d, (x, x[1:4].copy()), interface_only=True, options=PLAIN),
        Case(common, (x,), options=PLAIN),
    ]


def rows_repeated(x: np.ndarray) -> Any:
    """Find rows that are there several times; the first of them has the derivative."""
    rows = np.stack([x, 2 * x, x])
    return np.unique(rows, axis=0) * np.arange(1.0, 6.0)


def sums_of_groups(x: np.ndarray) -> Any:
    """Put the distinct values back to where they came from, between writes."""
    y = np.concatenate([x, x[:2]])
    values, back = np.unique(y, return_inverse=True)
    y[0] = 0.0
    return values[back] * y


def common(x: np.ndarray) -> Any:
    """Find the values of an array in part of it."""
    both, first, second = np.intersect1d(x, x[1:4], return_indices=True)
    return both * x[first] + x[1:4][second]
