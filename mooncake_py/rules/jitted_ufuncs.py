"""Numba's ``vectorize`` and ``guvectorize`` functions, as Python that can be derived.

The loops call a global name, ``function``: there is a copy of a loop for each function.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["bound_to", "elementwise_loop", "generalized_loop"]


def function(*args: Any) -> Any:
    """Represent the function that copies call."""
    raise NotImplementedError


def bound_to(f: FunctionType, loop: FunctionType) -> FunctionType:
    """Return a loop that calls `f`, with its own code: what is derived is kept by code."""
    return FunctionType(loop.__code__.replace(), {**globals(), "function": f}, loop.__name__)


def elementwise_loop(count: int) -> Any:
    """Return the loop over elements for some number of operands."""
    return LOOPS.get(count, over_elements)


def over_one(shape: tuple[int, ...], dtype: Any, a: Any) -> ndarray:
    """Call the function for each element of an operand."""
    x = np.broadcast_to(a, shape).reshape(-1)
    y = np.empty(x.shape, dtype)
    for i in range(y.shape[0]):
        y[i] = function(x[i])
    return y.reshape(shape)


def over_two(shape: tuple[int, ...], dtype: Any, a: Any, b: Any) -> ndarray:
    """Call the function for each element of two operands."""
    x = np.broadcast_to(a, shape).reshape(-1)
    z = np.broadcast_to(b, shape).reshape(-1)
    y = np.empty(x.shape, dtype)
    for i in range(y.shape[0]):
        y[i] = function(x[i], z[i])
    return y.reshape(shape)


def over_elements(shape: tuple[int, ...], dtype: Any, *operands: Any) -> ndarray:
    """Call the function for each element of any number of operands."""
    xs = [np.broadcast_to(a, shape).reshape(-1) for a in operands]
    y = np.empty(xs[0].shape, dtype)
    for i in range(y.shape[0]):
        y[i] = function(*[x[i] for x in xs])
    return y.reshape(shape)


LOOPS = {1: over_one, 2: over_two}


def generalized_loop(
    loop: tuple[int, ...], shapes: Any, operands: Any, outputs: list[ndarray]
) -> None:
    """Call the function for each place of `loop`: it writes into parts of the outputs.

    The shapes are those of the operands after broadcasting.
    """
    xs = [np.broadcast_to(a, shape) for a, shape in zip(operands, shapes, strict=True)]
    for place in np.ndindex(*loop):
        function(*[x[place] for x in xs], *[y[place] for y in outputs])
