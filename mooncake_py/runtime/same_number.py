"""Whether two equal active numbers are one, where each read of an element makes a new number.

Only where a program is about to be refused is this asked.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mooncake_py.runtime.active import Active, innermost
from mooncake_py.runtime.mode_of import is_forward

__all__ = ["are_same", "at_point"]


class Points(threading.local):
    """The numbers of the points at which solvers evaluate callbacks now, in each thread."""

    def __init__(self) -> None:
        self.numbers: list[Any] = []


POINTS = Points()


@contextmanager
def at_point(values: Any) -> Iterator[None]:
    """Let equal numbers of a point be one in this block: their derivatives are not known."""
    before, POINTS.numbers = POINTS.numbers, values
    try:
        yield
    finally:
        POINTS.numbers = before


def are_same(a: Any, b: Any) -> bool:
    """Return whether equal values have the same derivatives, as far as is known."""
    if a is b:
        return True
    if type(a) is not Active or type(b) is not Active:
        return type(a) is type(b) and bool(np.array_equal(a, b, equal_nan=True))
    if a.context is not b.context:
        return False
    if is_of_point(innermost(a)):
        return True
    return is_forward(a.context) and are_same(a.primal, b.primal) and are_same(a.grad, b.grad)


def is_of_point(number: Any) -> bool:
    """Return whether a number is among those of the point at which a solver calls back."""
    return any(np.any(np.equal(part, number)) for part in POINTS.numbers)
