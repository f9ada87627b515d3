"""Arguments that are sequences of arrays: cotangents and tangents in the same nesting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

__all__ = ["distribute", "distribute_all", "filled", "nesting", "of_sequences", "takes_sequences"]


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


F = TypeVar("F", bound=Callable[..., Any])
OF_SEQUENCES: set[Callable[..., Any]] = set()


def of_sequences(jvp: F) -> F:
    """Note that a function gets sequences with their tangents, and no arrays made of them."""
    OF_SEQUENCES.add(jvp)
    return jvp


def takes_sequences(jvp: Callable[..., Any]) -> bool:
    """Return True if a function that computes tangents was noted so."""
    return jvp in OF_SEQUENCES


def filled(tangent: Any, argument: Any) -> Any:
    """Return the tangent of a sequence of arrays, with zeros where there is none."""
    if tangent is None:
        return np.zeros_like(argument)
    if isinstance(tangent, (list, tuple)):
        return [filled(t, part) for t, part in zip(tangent, argument, strict=True)]
    return tangent
