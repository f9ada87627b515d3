"""Tangents with parts: take them apart, and put them together.

The kinds of tangent are a closed set, whatever types users add: nothing, a number, an array, and
the containers listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy import inexact

from mooncake_py.tangents.kinds import (
    FData,
    Fields,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    Tangent,
)

__all__ = [
    "EMPTY",
    "IMMUTABLE",
    "MUTABLE",
    "fill_container",
    "is_number",
    "join_container",
    "join_or_collapse",
    "parts_of",
]

EMPTY = frozenset({NoTangent, NoFData, NoRData})
IMMUTABLE = frozenset({tuple, Tangent, FData, RData})
MUTABLE = frozenset({list, dict, MutableTangent})


def is_number(t: Any) -> bool:
    """Return whether `t` is a float, a complex number or a NumPy scalar of either sort."""
    return isinstance(t, (float, complex, inexact))


def parts_of(t: Any) -> Mapping[Any, Any]:
    """Return the parts of a container by index, key or name."""
    if isinstance(t, dict):
        return t
    if isinstance(t, Fields):
        return t._fields
    return dict(enumerate(t))


def join_container(kind: type, parts: Mapping[Any, Any]) -> Any:
    """Make an immutable container of the given kind."""
    if kind is tuple:
        return tuple(parts.values())
    return kind.of(parts)  # pyright: ignore[reportAttributeAccessIssue]


def join_or_collapse(kind: type, parts: Mapping[Any, Any], empty: Any) -> Any:
    """Make an immutable container, or return `empty` if that is what all the parts are."""
    if all(part is empty for part in parts.values()):
        return empty
    return join_container(kind, parts)


def fill_container(t: Any, parts: Mapping[Any, Any]) -> None:
    """Put parts into an empty or equally structured mutable container."""
    if type(t) is list:
        t[:] = parts.values()
    elif type(t) is dict:
        t.update(parts)
    else:
        t._fields.update(parts)
