"""Walks over nested values: the parts of a value, and the path to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents.kinds import Fields
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.words import text_of_key

__all__ = ["Part", "children", "is_inexact", "is_number", "walk", "walk_all"]

Part = tuple[str, Any]
"""A path such as ``args[1]['w']``, and the value there."""

_LEAVES = frozenset({int, bool, float, complex, str, bytes, type(None), np.ndarray, np.float64})


def is_number(value: Any) -> bool:
    """Return whether `value` is a scalar with a numeric value, bool included."""
    return isinstance(value, (bool, int, float, complex, np.generic))


def is_inexact(value: Any) -> bool:
    """Return whether `value` is an array or a scalar of floats or complex numbers."""
    if issubclass(type(value), np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def children(value: Any) -> list[Part]:
    """Return the direct parts of `value`, each with its piece of the path.

    The parts of an object are the fields of its tangent.
    """
    if type(value) in _LEAVES or is_number(value) or issubclass(type(value), np.ndarray):
        return []
    if issubclass(type(value), Fields):
        return [(f".{name}", value[name]) for name in value]
    try:
        fields = spec_of(value).fields(value)
    except InvalidTangentError:  # opaque to tangents, and so to this walk
        return []
    if not fields:
        return []
    if issubclass(type(value), (list, dict)) or (type(value) is tuple):
        return [(f"[{text_of_key(name)}]", part) for name, part in fields.items()]
    return [(f".{name}", part) for name, part in fields.items()]


def walk(
    value: Any, path: str, seen: dict[int, Any] | None = None, *, by_value: bool = False
) -> Iterator[Part]:
    """Yield `value` and every part inside it, outer parts first, in a fixed order.

    A container that occurs again is yielded again, but without its parts; a tuple `by_value` with
    them, as equal tuples are interchangeable.
    """
    seen = {} if seen is None else seen
    yield path, value
    if type(value) in _LEAVES or id(value) in seen:
        return
    parts = children(value)
    if parts and not (by_value and type(value) is tuple):
        seen[id(value)] = value  # the reference keeps the id from being reused
    for suffix, part in parts:
        yield from walk(part, path + suffix, seen, by_value=by_value)


def walk_all(roots: Iterable[Part], *, by_value: bool = False) -> Iterator[Part]:
    """Walk over several values that may share parts; see :func:`walk`."""
    seen: dict[int, Any] = {}
    for path, value in roots:
        yield from walk(value, path, seen, by_value=by_value)
