"""Statements on float32 arrays, whose forms differ a little from those on float64 arrays.

What an operand receives may be of a higher precision, where a partial derivative is; it is
converted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.regions.ir import Call, Name, parts_of
from mooncake_py.compiler.statements.core import Core
from mooncake_py.rules.broadcasting import fit

__all__ = ["FLOAT32", "SCOPE", "has_functions_of_numbers"]

FLOAT32 = np.dtype(np.float32)


def has_functions_of_numbers(core: Core, arrays: set[str]) -> bool:
    """Return True if a function has no array among its operands: float64 may come out of it."""
    calls = [let.value for let in core.lets if isinstance(let.value, Call)]
    return any(not arrays.intersection(names_in(e)) for e in calls)


def names_in(e: Call) -> set[str]:
    """Return the names of operands."""
    return {part.name for part in parts_of(e) if isinstance(part, Name)}


def single(c: Any) -> Any:
    """Return a cotangent or a tangent as a float32 array."""
    return c if type(c) is ndarray and c.dtype is FLOAT32 else np.asarray(c, FLOAT32)


def fitted(d: Any, shape: tuple[int, ...]) -> Any:
    """Return a cotangent summed over the axes along which an operand was broadcast."""
    return fit(d, shape, FLOAT32)


def reduced(d: Any, factor: Any, shape: tuple[int, ...]) -> Any:
    """Return ``fitted(d * factor, shape)``."""
    return fit(d * factor, shape, FLOAT32)


def inner(d: Any, factor: Any) -> float:
    """Return the sum of ``d * factor``, which BLAS would round after each term."""
    return float(np.add.reduce(d * factor, axis=None))


SCOPE: dict[str, Any] = {
    "FLOAT32": FLOAT32, "fitted": fitted, "inner": inner, "reduced": reduced, "single": single,
}  # fmt: skip
