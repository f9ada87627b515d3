"""The functions that the generated functions of statements on arrays call, by name."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.statements import fitting, gathers, masks
from mooncake_py.compiler.statements.nodes import are_active, nodes_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.late_errors import late_error
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.overlapping import crosses, crosses_at
from mooncake_py.runtime.pulls import is_basic
from mooncake_py.runtime.values import FLOAT64, like

__all__ = ["SCOPE"]

SCOPE: dict[str, Any] = {
    "Active": Active, "Ellipsis": Ellipsis, "FLOAT64": FLOAT64, "Memory": Memory, "add": np.add,
    "array": np.array, "are_active": are_active, "crosses": crosses, "crosses_at": crosses_at,
    "both_finite": fitting.both_finite, "finite": fitting.finite, "fitted": fitting.fitted,
    "float64": np.float64, "frozen": gathers.frozen, "inner": fitting.inner, "is_basic": is_basic,
    "is_gather": gathers.is_gather, "is_mask": gathers.is_mask, "late_error": late_error,
    "like": like, "multiply": np.multiply, "ndarray": ndarray, "nodes_of": nodes_of,
    "one": np.float64(1.0), "reduced": fitting.reduced, "ref": ref, "scatter": gathers.scatter,
    "selected": masks.selected, "shares": masks.shares, "spread": fitting.spread,
    "subtract": np.subtract, "summed": fitting.summed, "take_rest": masks.take_rest,
}  # fmt: skip
