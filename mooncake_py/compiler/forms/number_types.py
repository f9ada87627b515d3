"""The types of the numbers that enter and leave a region; within it they are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.compiler.forms.form import Form
from mooncake_py.compiler.forms.infer import (
    BOOL,
    FLAGS,
    FLOAT,
    FLOAT64,
    INT,
    INT32,
    INT64,
    NONE,
    NUMPY_BOOL,
    TEXT,
)
from mooncake_py.runtime.active import Active

__all__ = ["INTEGERS", "TYPES", "plain", "typed"]

TYPES: dict[type, str] = {
    float: FLOAT, np.float64: FLOAT64, int: INT, np.int64: INT64, np.int32: INT32,
    bool: BOOL, np.bool_: NUMPY_BOOL, type(None): NONE, str: TEXT,
}  # fmt: skip
MAKE: dict[str, Any] = {
    INT: lambda v: v, FLOAT: lambda v: v, FLOAT64: np.float64, INT64: np.int64, INT32: np.int32,
    NUMPY_BOOL: np.bool_,
    **dict.fromkeys((BOOL, NONE, TEXT), lambda v: v),
}  # fmt: skip
INTEGERS = {np.dtype(np.int64): INT64, np.dtype(np.int32): INT32}
PLAIN: dict[type, Any] = {np.float64: float, np.int64: int, np.int32: int, np.bool_: bool}
FLAGGED = {flag: MAKE[kind] for kind, flag in FLAGS.items()}


def typed(form: Form, bound: dict[str, Any], flags: list[int]) -> dict[str, Any]:
    """Return the values that a region binds, of the types that the user's code would see."""
    known = dict(zip(form.flagged, flags, strict=True))
    return {
        name: (FLAGGED[known[own]] if own in known else MAKE[kind])(bound[name])
        for name, own, kind in zip(form.results, form.flags, form.types, strict=True)
    }


def plain(value: Any) -> Any:
    """Return a number as Python's: quicker, and it never warns."""
    if type(value) is Active:
        value = value.primal
    make = PLAIN.get(type(value))
    return value if make is None else make(value)
