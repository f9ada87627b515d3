"""Operations without a derivative, or with derivative zero: comparisons, rounding, ``a // b``.

NumPy's functions return a float; the others return an int.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.ir import Call, Compare, Expr, Op

__all__ = ["ROUNDING", "TO_FLOATS", "TO_INTS", "is_flat", "is_flat_function"]

TO_INTS = math.floor, math.ceil, math.trunc
ROUNDING = np.floor, np.ceil, np.rint, np.trunc
TO_FLOATS = *ROUNDING, np.sign
FLAT = frozenset(map(id, (*TO_INTS, *TO_FLOATS)))
OPERATORS = frozenset({"int", "floordiv", "lt", "le", "gt", "ge", "eq", "ne"})


def is_flat_function(f: Any, count: int) -> bool:
    """Return True if a function of so many numbers is constant in pieces."""
    return count == 1 and id(f) in FLAT


def is_flat(e: Expr) -> bool:
    """Return True if no derivative flows through an operation."""
    if isinstance(e, Compare):
        return True
    if isinstance(e, Call):
        return is_flat_function(e.function, len(e.args))
    return isinstance(e, Op) and e.op in OPERATORS
