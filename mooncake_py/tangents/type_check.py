"""Check whether a tangent, fdata or rdata is an instance of a type key."""

from __future__ import annotations

import typing
from typing import Any

import numpy as np

from mooncake_py.tangents.aliases import expanded
from mooncake_py.tangents.kinds import (
    FData,
    Fields,
    FieldsKey,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    Tangent,
)

__all__ = ["instance_of"]

_COLLAPSED = {Tangent: NoTangent, FData: NoFData, RData: NoRData}
_DOUBLE = {float: np.float64, np.float64: float, complex: np.complex128, np.complex128: complex}


def instance_of(t: Any, key: Any) -> bool:
    """Return whether `t` is of the type that `key` describes; everything is an `object`.

    Fields that a key does not name are free, and fields that are absent fit.  Where a key leaves
    parts open, ``NoTangent()`` in place of a container of only such parts fits.
    """
    if key is object:
        return True
    if isinstance(key, FieldsKey):
        return _has_fields(t, key)
    key = expanded(key)
    origin, args = typing.get_origin(key), typing.get_args(key)
    if origin is np.ndarray:
        return type(t) is np.ndarray and t.dtype.type is typing.get_args(args[1])[0]
    if origin is tuple:
        if type(t) is not tuple:
            return type(t) in _COLLAPSED.values() and all(instance_of(t, a) for a in args)
        return len(t) == len(args) and all(map(instance_of, t, args))
    if origin is list:
        return type(t) is list and all(instance_of(part, args[0]) for part in t)
    if origin is dict:
        return type(t) is dict and all(instance_of(part, args[1]) for part in t.values())
    return type(t) is key or type(t) is _DOUBLE.get(key)


def _has_fields(t: Any, key: FieldsKey) -> bool:
    if type(t) is key.origin and isinstance(t, Fields):
        return all(instance_of(t[name], part) for name, part in key.fields.items() if name in t)
    empty = _COLLAPSED.get(key.origin)
    return type(t) is empty and all(instance_of(t, part) for part in key.fields.values())
