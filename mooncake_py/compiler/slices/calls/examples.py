"""What calls return, found out on small arrays in the place of the user's."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.regions.ir import Sliced
from mooncake_py.compiler.slices.calls.arguments import arguments_of
from mooncake_py.compiler.slices.calls.operations import Operation
from mooncake_py.compiler.slices.plans import LENGTH, example
from mooncake_py.runtime.values import FLOAT64

__all__ = ["rank_of"]


def rank_of(s: Sliced, operation: Operation, axes: Mapping[str, int]) -> int | None:
    """Return how many axes the value of a call has, 0 for a number; None for anything else.

    Numbers may be ints, such as axes, or floats.
    """
    for number in (1, 1.0):
        found = called(s, operation, axes, number)
        if type(found) is ndarray and found.dtype is FLOAT64 and found.ndim:
            return found.ndim
        if type(found) is np.float64 or type(found) is float:
            return 0
    return None


def called(s: Sliced, operation: Operation, axes: Mapping[str, int], number: float) -> Any:
    """Return the value of a call, None if it raises."""
    arguments = arguments_of(s.statement.value)
    assert arguments is not None
    try:
        operands = [operand(s, part, axes, number) for part in s.statement.layout]
        positional, named = arguments.values(operands)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return operation.function(*positional, **named)
    except Exception:
        return None


def operand(s: Sliced, part: Any, axes: Mapping[str, int], number: float) -> Any:
    """Return what stands for an operand; matrices can be inverted."""
    if isinstance(part, int):
        name = s.values[part].name
        return example_array(axes[name]) if axes.get(name) else number
    array, index = s.values[part[0]].name, example(s.values[part[1]], axes)
    found = example_array(axes[array])[index]
    return found if np.ndim(found) else float(found)


def example_array(ndim: int) -> ndarray:
    """Return an array of so many axes; of two a matrix that is positive definite."""
    found = np.ones((LENGTH,) * ndim)
    return found + np.eye(LENGTH) if ndim > 1 else found
