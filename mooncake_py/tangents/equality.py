"""Equality of tangents and of primals: same kinds, dtypes, shapes and values, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.tangents.containers import IMMUTABLE, MUTABLE, is_number, parts_of
from mooncake_py.words import text_of_key

__all__ = ["Mismatch", "same_tangent", "tangent_mismatch", "value_mismatch"]

Mismatch = tuple[str, Any, Any]  # path, left part, right part


def same_tangent(a: Any, b: Any) -> bool:
    """Return whether two tangents (or fdata, or rdata) are equal; nan equals nan."""
    return tangent_mismatch(a, b) is None


def tangent_mismatch(a: Any, b: Any) -> Mismatch | None:
    """Return the first part in which two tangents differ, or None.

    Returns
    -------
    tuple of str, object, object or None
        The path of the part, such as ``['w'][0]``, and the part of `a` and of `b`.
    """
    return _Comparison(_tangent_parts).first(a, b, "")


def value_mismatch(p: Any, q: Any) -> Mismatch | None:
    """Return the first part in which two primals differ, or None; see `tangent_mismatch`.

    Parts that have no fields are equal if they are identical or compare equal.
    """
    return _Comparison(_value_parts).first(p, q, "")


def _tangent_parts(t: Any) -> Any:
    return parts_of(t) if type(t) in IMMUTABLE or type(t) in MUTABLE else None


def _value_parts(p: Any) -> Any:
    from mooncake_py.tangents.lookup import spec_of

    return spec_of(p).fields(p)


class _Comparison:
    """Compares two structures; a pair of parts is followed once, so cycles end."""

    def __init__(self, parts: Callable[[Any], Any]) -> None:
        self.parts = parts
        self.seen: dict[tuple[int, int], tuple[Any, Any]] = {}

    def first(self, a: Any, b: Any, path: str) -> Mismatch | None:
        differ = path, a, b
        if type(a) is not type(b):
            return differ
        if issubclass(type(a), np.ndarray):
            same = a.dtype == b.dtype and a.shape == b.shape and _same_values(a, b)
            return None if same else differ
        if is_number(a):
            return None if _same_values(a, b) else differ
        if (id(a), id(b)) in self.seen:
            return None
        self.seen[id(a), id(b)] = a, b
        left, right = self.parts(a), self.parts(b)
        if left is None or right is None:
            return None if a is b or a == b else differ
        for key in [*left, *right]:
            if key not in left or key not in right:
                none = "no such part"
                return f"{path}[{text_of_key(key)}]", left.get(key, none), right.get(key, none)
        found = (self.first(left[key], right[key], f"{path}[{text_of_key(key)}]") for key in left)
        return next((mismatch for mismatch in found if mismatch), None)


def _same_values(a: Any, b: Any) -> bool:
    same = np.asarray(a == b)
    if np.asarray(a).dtype.kind in "fc":
        same = same | (np.isnan(a) & np.isnan(b))
    return bool(same.all())
