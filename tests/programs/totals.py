"""Sums and means in random programs: functions, or methods of a value."""

from __future__ import annotations

import re
from random import Random

__all__ = ["as_method", "total"]

OF_ARRAYS = re.compile(r"(?<![\w.])([bmtuvwxyz]|h\d+)(?!\w)")
"""The names of arrays: Python's numbers have no such methods."""


def total(random: Random, value: str) -> str:
    """Return the text of the sum or the mean of all elements of an array."""
    function = random.choice(("sum", "sum", "mean"))
    is_method = random.random() < 0.5 and OF_ARRAYS.search(value)
    return f"({value}).{function}()" if is_method else f"np.{function}({value})"


def as_method(random: Random, function: str, value: str, arguments: str) -> str:
    """Return the text of a reduction, in every third program as a method."""
    if random.random() < 0.3 and OF_ARRAYS.search(value):
        return f"({value}).{function.removeprefix('np.')}({arguments})"
    return f"{function}({value}, {arguments})"
