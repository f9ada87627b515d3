"""Functions that draw from NumPy's global generator as part of what they compute.

SciPy estimates norms of matrices with random vectors.  The program draws them once, where it calls
the function; derivatives call it again, and leave the generator as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.rules.declare import zero_derivative

__all__ = ["drawn", "undrawn"]


def drawn(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a function for plain numbers, with the draws that it makes."""
    return drawn_from(global_generator(), function, args)


def global_generator() -> Any:
    """Return the generator behind the functions of `numpy.random`."""
    return np.random.random.__self__


def drawn_from(generator: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call a function; parts of a program that run twice look for the generator here."""
    return function(*args)


zero_derivative(global_generator, drawn_from, because="held: another rule has the derivative")


def undrawn(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a function, and restore the generator."""
    generator = global_generator()
    state = generator.get_state()
    try:
        return function(*args)
    finally:
        generator.set_state(state)
