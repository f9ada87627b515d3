"""Cases for functions that select elements."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import since

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*take_cases(), *condition_cases(), *choice_cases()]


def take_cases() -> list[Case]:
    x, row = draw(3, 4), draw(5)
    order = np.argsort(x, axis=1)
    return [
        Case(np.take, (row, [0, 2, 2, -1]), label="repeated"),
        Case(np.take, (row, 3), label="one"),
        Case(np.take, (x, [0, 5, 5]), label="flat"),
        Case(np.take, (x, [[0, 1], [1, 2]]), {"axis": 0}, "axis"),
        Case(np.take, (x, [3, 3], -1), label="last-axis"),
        Case(np.take, (row, [7, -6, 1]), {"mode": "wrap"}, "wrap"),
        Case(np.take, (row, [7, -6, 1]), {"mode": "clip"}, "clip"),
        Case(np.take, (draw(4, dtype=complex), [1, 1]), label="complex"),
        Case(np.take, (np.array(1.5), [0, 0], 0), label="0-d"),
        Case(np.ndarray.take, (x, [0, 2], 1), label="method"),
        Case(np.take_along_axis, (x, order, 1), label="axis"),
        Case(np.take_along_axis, (x, order[:, :1], -1), label="one-column"),
        *since("2.3.0", Case(np.take_along_axis, (x, order[:, :1]), label="default-axis")),
        Case(np.take_along_axis, (x, np.array([3, 3, 0]), None), label="flat"),
        Case(np.ndarray.item, (np.array(2.5),), label="0-d"),
        Case(np.ndarray.item, (row, 2), label="flat"),
        Case(np.ndarray.item, (x, -1), label="negative"),
        Case(np.ndarray.item, (x, 1, 2), label="two"),
        Case(np.ndarray.item, (x, (1, 2)), label="tuple"),
        Case(np.ndarray.tolist, (x,), label="2-d"),
        Case(np.ndarray.tolist, (np.array(2.5),), label="0-d"),
    ]


def condition_cases() -> list[Case]:
    x, row = draw(3, 4), draw(5)
    return [
        Case(np.compress, ([True, False, True], row), label="short"),
        Case(np.compress, ([True, False, True, True], x, 1), label="axis"),
        Case(np.compress, ([0, 1, 0, 1, 1], x), label="flat"),
        Case(np.compress, ([True], np.array(1.5), 0), label="0-d"),
        Case(np.ndarray.compress, (x, [True, False, True], 0), label="method"),
        Case(np.extract, (x > 0, x), label="mask"),
    ]


def choice_cases() -> list[Case]:
    index = np.array([[0, 1, 2], [2, 1, 0]])
    a, b, c = draw(2, 3), draw(3), draw(2, 1)
    return [
        Case(np.choose, (index, [a, b, c]), label="broadcast"),
        Case(np.choose, (index, draw(3, 3)), label="array"),
        Case(np.choose, (index + 1, (a, b, 1.5)), {"mode": "wrap"}, "wrap"),
        Case(np.ndarray.choose, (index, [a, b, c]), label="method"),
        Case(np.select, ([index > 1, index > 0], [a, 2 * a], 1.5), label="default"),
        Case(np.select, ([index > 1, index > 0, index > 1], [a, b, c]), label="broadcast"),
        Case(np.select, ([index > 1], [2.5], a), label="number"),
    ]
