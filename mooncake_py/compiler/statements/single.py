"""Statements on float32 arrays, whose forms differ a little from those on float64 arrays.

Numbers beside the arrays are Python's: NumPy computes in float32 then.  Served are elementwise
functions and choices.  What an operand receives may be of a higher precision, where a partial
derivative is; it is converted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.ir import Call, Name, parts_of
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.scope import SCOPE
from mooncake_py.rules.broadcasting import fit
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import FLOAT64

__all__ = ["FLOAT32", "SCOPES", "dtype_of", "has_functions_of_numbers", "is_simple"]

FLOAT32 = np.dtype(np.float32)
SERVED = (FLOAT64, FLOAT32)
NUMBERS = (float, int, Active)


def dtype_of(values: Iterable[Any]) -> np.dtype[Any] | None:
    """Return the one dtype of the arrays among values, None if none is served or they differ."""
    found = {id(v.dtype): v.dtype for v in values if type(v) is ndarray}
    if not found:
        return FLOAT64
    first, *others = found.values()
    return None if others or not any(first is dtype for dtype in SERVED) else first


def is_simple(core: Core, kinds: Iterable[Any], whole: bool | None) -> bool:
    """Return True for elementwise functions of arrays, and arithmetic with Python's numbers."""
    if whole is None or core.statement.into or core.contractions or core.sums or core.reductions:
        return False
    if any(isinstance(kind, type) and kind not in NUMBERS for kind in kinds):
        return False
    return not any(kind == "element" for kind in kinds)


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


SCOPES: dict[np.dtype[Any], dict[str, Any]] = {
    FLOAT64: SCOPE,
    FLOAT32: {
        **SCOPE, "FLOAT32": FLOAT32, "fitted": fitted, "inner": inner, "reduced": reduced,
        "single": single,
    },
}  # fmt: skip
"""What the generated functions call, by the dtype of the arrays."""
