"""Whether a value has a derivative anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.tangents.builtin_specs import differentiable_array
from mooncake_py.tangents.lookup import spec_of

__all__ = ["holds_numbers"]


def holds_numbers(value: Any, seen: dict[int, Any] | None = None) -> bool:
    """Tell whether a value is or holds, at any depth, a number or an array with a derivative."""
    if isinstance(value, ndarray):
        return differentiable_array(value)
    if isinstance(value, (float, complex, np.inexact)):
        return True
    seen = {} if seen is None else seen
    if id(value) in seen:
        return False
    seen[id(value)] = value  # kept, so that its id is not used again
    fields = spec_of(value).fields(value)
    return fields is not None and any(holds_numbers(part, seen) for part in fields.values())
