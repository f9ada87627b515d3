"""Arguments that are sequences of arrays: cotangents in the same nesting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["distribute", "distribute_all", "nesting"]


def distribute(dy: Any, argument: Any) -> Any:
    """Return `dy`, which has the shape of `argument`, as nested lists where that is one."""
    if isinstance(argument, (list, tuple)):
        return [distribute(part, item) for part, item in zip(dy, argument, strict=True)]
    return dy


def distribute_all(pieces: Sequence[ndarray], arrays: Any) -> Any:
    """Return the cotangent of a sequence of arrays, given that of each in its own shape."""
    if isinstance(arrays, ndarray):  # an array taken as the sequence of its first axis
        return np.stack(pieces)
    return distribute(pieces, arrays)


def nesting(argument: Any) -> int:
    """Return the number of axes of the array that nested lists make."""
    depth = 0
    while isinstance(argument, (list, tuple)):
        depth += 1
        if not argument:
            return depth
        argument = argument[0]
    return depth + np.ndim(argument)
