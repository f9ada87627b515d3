"""Cases for functions and methods that change an array in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import since

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*copy_cases(), *position_cases(), *sort_cases(), *chain_cases()]


def copy_cases() -> list[Case]:
    x, v = draw(3, 4), draw(4, seed=1)
    mask = x > 0
    return [
        Case(np.copyto, (x, draw(3, 4, seed=1))),
        Case(np.copyto, (x, v), label="broadcast"),
        Case(np.copyto, (x, v), {"where": mask}, "where"),
        Case(np.copyto, (x, 2.5), {"where": mask}, "number"),
        Case(np.copyto, (x, draw(3, 4, dtype=np.float32)), label="cast"),
        Case(np.ndarray.fill, (x, 1.5)),
        Case(np.place, (x, mask, v), label="repeats"),
        Case(np.place, (x, mask, draw(20)), label="too-many"),
        Case(np.putmask, (x, mask, v), label="repeats"),
        Case(np.putmask, (x, mask, draw(3, 4, seed=2)), label="same-shape"),
    ]


def position_cases() -> list[Case]:
    x, v = draw(3, 4), draw(3, seed=1)
    columns = np.array([[0, 3], [1, 2], [2, 0]])
    return [
        Case(np.put, (x, [0, -1, 5], v)),
        Case(np.put, (x, [4, 4, 5], v), label="repeated"),
        Case(np.put, (x, [0, 2, 4, 6, 8], v), label="cycled"),
        Case(np.put, (x, [13, -20, 5], v), {"mode": "wrap"}, "wrap"),
        Case(np.ndarray.put, (x, [[0, 1], [2, 3]], 2.0), label="method"),
        Case(np.put_along_axis, (x, columns, draw(3, 2, seed=2), 1)),
        Case(np.put_along_axis, (x, np.array([[0, 2, 1, 1]]), v[0], 0), label="axis=0"),
        # Older ones accept such places also in an empty array.
        *since("2.4.0", Case(np.put_along_axis, (x, np.array([1, 5]), v[:2], None), label="flat")),
        Case(np.fill_diagonal, (x, v)),
        Case(np.fill_diagonal, (draw(7, 2), v, True), label="wrap"),
        Case(np.fill_diagonal, (draw(3, 3, 3), 1.5), label="3-d"),
    ]


def sort_cases() -> list[Case]:
    x = draw(3, 5)
    return [
        Case(np.ndarray.sort, (x,)),
        Case(np.ndarray.sort, (x, 0), {"kind": "stable"}, "axis"),
        Case(np.ndarray.partition, (x, 2)),
        Case(np.ndarray.partition, (x, [0, 1], 0), label="axis"),
    ]


def chain_cases() -> list[Case]:
    return [
        Case(repeated_writes, (draw(6), draw(3, seed=1)), label="program"),
        Case(write_through_view, (draw(3, 4), draw(3, seed=1)), label="program"),
    ]


def repeated_writes(x: np.ndarray, v: np.ndarray) -> Any:
    """Overwrite what was read before, several times."""
    total = 0.0
    for shift in range(3):
        total = total + np.sum(x * x[::-1])
        np.put(x, [shift, shift + 3], v[:2] * x[2])
        np.copyto(x[3:], x[:3] * v, where=np.array([True, False, True]))
        x.sort()
    return total + np.dot(x, x)


def write_through_view(x: np.ndarray, v: np.ndarray) -> Any:
    """Change an array through its transpose."""
    np.fill_diagonal(x.T, v)
    x.T[1:3].partition(1)
    np.place(x[:, 1], x[:, 1] > 0, v * v)
    return np.sin(x)
