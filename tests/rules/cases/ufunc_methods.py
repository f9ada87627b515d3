"""Cases for the methods of ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules import running, ufunc_methods
from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*at_cases(), *reduction_cases(), *outer_cases()]


def positive(*shape: int) -> np.ndarray:
    """Return numbers between 1/2 and 3/2."""
    return 1 + np.tanh(draw(*shape)) / 2


def at(ufunc: np.ufunc, a: np.ndarray, indices: Any, *operand: Any) -> None:
    """Refuse a read-only array, as NumPy's `at` does not: it writes to it."""
    if not a.flags.writeable:
        raise ValueError("the array is read-only")
    ufunc.at(a, indices, *operand)


def at_cases() -> list[Case]:
    x, y, v = draw(3, 4), draw(5), draw(4, seed=1)
    rows, columns = [0, 0, 2], [1, 1, 3]
    once = {"layouts": False}
    return [
        Case(np.add.at, (y, [0, 3, 0, -1], v), options=once),
        Case(np.subtract.at, (y, [0, 3, 0, -1], v), options=once),
        Case(np.multiply.at, (y, [0, 3, 0, 0], v), options=once),
        Case(at, (np.add, y, [1, 1], 2.0), label="number"),
        Case(at, (np.add, x, [0, 2, 0], v), label="rows"),
        Case(at, (np.add, x, (rows, columns), v[:3]), label="elements"),
        Case(at, (np.add, x, (slice(None), columns), draw(3, 3)), label="slice"),
        Case(at, (np.add, x, x > 0, 1.5), label="mask"),
        Case(at, (np.subtract, x, [0, 2, 0], v), label="subtract"),
        Case(at, (np.multiply, y, [0, 3, 0, 0], v), label="multiply"),
        Case(at, (np.divide, x, (rows, columns), positive(3)), label="divide"),
        Case(at, (np.maximum, y, [0, 3, 0], v[:3]), label="maximum"),
        Case(at, (np.negative, y, [0, 3, 0]), label="unary"),
        Case(at, (np.exp, y, [1, 1, 2]), label="unary-smooth"),
        Case(ufunc_methods.add_to_slots, (x, np.array([0, 2, 0]), v)),
        Case(ufunc_methods.subtract_from_slots, (x, np.array([0, 2, 0]), v)),
    ]


def reduction_cases() -> list[Case]:
    x = positive(3, 4)
    mask = x > 1
    return [
        Case(np.logaddexp.reduce, (x,)),
        Case(np.logaddexp.reduce, (x,), {"axis": 1, "keepdims": True}, "keepdims"),
        Case(np.logaddexp.reduce, (x,), {"axis": 1, "where": mask, "initial": 0.5}, "where"),
        Case(np.hypot.reduce, (x,), {"axis": None}, "all"),
        Case(np.subtract.reduce, (x[0],), label="vector"),
        Case(np.divide.reduce, (x,), {"axis": -1}, "last-axis"),
        Case(np.logical_or.reduce, (x,), label="stepwise"),
        Case(np.subtract.accumulate, (x,)),
        Case(np.divide.accumulate, (x, 1), label="axis"),
        Case(np.hypot.reduce, (np.array([[-1.5, 2.0]]),), label="one-element"),
        Case(np.logaddexp.reduce, (x[:1],), label="one-element"),
        Case(np.maximum.accumulate, (x[0],), label="vector"),
        Case(np.maximum.accumulate, (x, 1), label="axis"),
        Case(np.minimum.accumulate, (x,), {"axis": -1}, "last-axis"),
        Case(running.mixed, (x[0], np.array([2, 0, 1, 2]))),
        Case(running.mixed, (x[0], np.array([2, 0, 2, 2])), label="no-ties"),
        Case(running.gathered, (x[0], np.array([2, 0, 1, 2]))),
        Case(running.gathered, (x[0], np.array([2, 0, 2, 0])), label="no-ties"),
        Case(running.log_of_sum, (x, (0, 1), False)),
        Case(running.log_of_sum, (x, 1, True), label="axis"),
        Case(np.logaddexp.accumulate, (x[0],), label="vector"),
        Case(np.logaddexp.accumulate, (x, 1), label="axis"),
        Case(running.log_of_sums, (x,)),
        Case(running.recurrence, (np.where([False, True, True, True], x, 0.0), x)),
        Case(np.add.reduceat, (x[0], [0, 2, 1])),
        Case(np.add.reduceat, (x, [1, 3]), {"axis": 1}, "axis"),
        Case(np.multiply.reduceat, (x, [0, 2, 1]), {"axis": -1}, "loop"),
    ]


def outer_cases() -> list[Case]:
    x, v = draw(2, 3), draw(2, seed=1)
    return [
        Case(np.multiply.outer, (x, v)),
        Case(np.multiply.outer, (draw(2, dtype=complex), x), label="complex"),
        Case(np.add.outer, (x, v)),
        Case(np.subtract.outer, (v, v[:1]), label="size-1"),
        Case(np.power.outer, (positive(3), v), label="power"),
    ]
