"""The dtypes of arrays that statements are for, and what their forms call.

float64         every statement
float32         elementwise functions and choices; numbers next to the arrays are Python's, so that
                NumPy computes in float32
complex128      the same, with real arrays of float64 among the operands
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.regions.ir import Call
from mooncake_py.compiler.statements import complexes as of_complex_arrays
from mooncake_py.compiler.statements import single
from mooncake_py.compiler.statements.choices import is_choice
from mooncake_py.compiler.statements.complexes import (
    COMPLEX128,
    NUMBERS,
    complex_names,
    has_complex_partials,
    is_complex,
)
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.scope import SCOPE
from mooncake_py.compiler.statements.single import FLOAT32
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import FLOAT64

__all__ = ["NAMES", "SCOPES", "beside_complex", "dtype_of", "has_tangent", "is_simple"]

NAMES = {FLOAT64: "FLOAT64", FLOAT32: "FLOAT32", COMPLEX128: "COMPLEX128"}
"""The names of dtypes in the generated functions."""
SCOPES: dict[np.dtype[Any], dict[str, Any]] = {
    FLOAT64: SCOPE,
    FLOAT32: {**SCOPE, **single.SCOPE},
    COMPLEX128: {**SCOPE, **of_complex_arrays.SCOPE},
}
"""The names that the generated functions call, by the dtype of the statement."""
BESIDE = {
    FLOAT32: frozenset({float, int, Active}),
    COMPLEX128: frozenset({float, int, np.float64, Active, *NUMBERS}),
}
"""The types of numbers next to arrays that are not all of float64."""


def dtype_of(values: Iterable[Any]) -> np.dtype[Any] | None:
    """Return the dtype of a statement on some values, None if it is not supported."""
    found: dict[int, np.dtype[Any]] = {}
    for v in values:
        if type(v) is ndarray:
            found[id(v.dtype)] = v.dtype
        elif type(v) in NUMBERS:
            found[id(COMPLEX128)] = COMPLEX128
    if not found:
        return FLOAT64
    first, *others = found.values()
    if not others:
        return first if any(first is dtype for dtype in NAMES) else None
    is_mixed = all(dtype is FLOAT64 or dtype is COMPLEX128 for dtype in found.values())
    return COMPLEX128 if is_mixed else None


def beside_complex(dtype: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """Return the dtype of a statement in which a number is written down that is complex."""
    return COMPLEX128 if dtype is FLOAT64 or dtype is COMPLEX128 else None


def is_simple(core: Core, kinds: Iterable[Any], whole: bool | None, dtype: np.dtype[Any]) -> bool:
    """Return True for elementwise functions of arrays, and arithmetic with numbers of a dtype."""
    if whole is None or core.statement.into or not is_elementwise(core):
        return False
    numbers = BESIDE[dtype]
    if any(isinstance(kind, type) and kind not in numbers for kind in kinds):
        return False
    return not any(kind == "element" for kind in kinds)


def is_elementwise(core: Core) -> bool:
    """Return True for a value without sums and products of vectors or matrices."""
    return not (core.contractions or core.sums or core.reductions)


def has_tangent(core: Core, dtype: np.dtype[Any], complexes: Collection[int]) -> bool:
    """Return True if the tangent of a value of a dtype can be worked out.

    Parameters
    ----------
    core : Core
    dtype : dtype
    complexes : collection of int
        The positions of values that are complex.
    """
    if dtype is FLOAT64:
        return True
    if not is_elementwise(core):
        return False
    if any(view.is_real and view.base not in complexes for view in core.statement.views):
        return False
    names = complex_names(core, complexes)
    calls = [let.value for let in core.lets if isinstance(let.value, Call)]
    of_complex = [e for e in calls if any(is_complex(part, names) for part in e.args)]
    return all(is_choice(e) or has_complex_partials(e) for e in of_complex)
