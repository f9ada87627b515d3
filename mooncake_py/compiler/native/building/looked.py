"""The parts of passed structures that were looked at: nothing is required of the rest."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mooncake_py.compiler.native.building.types import (
    BoundType,
    DictType,
    ObjectType,
    Path,
    TupleType,
    Type,
)

__all__ = ["CONTAINERS", "Looked", "found_at", "looked_at"]

CONTAINERS = tuple, list, dict
Looked = Mapping[Path, Collection[str]]
"""By the paths of objects the names of the attributes that were asked for, found or not."""


def looked_at(type_: Type, looked: Looked, path: Path) -> Type:
    """Return a type without the attributes that nothing asked for."""
    if isinstance(type_, TupleType):
        pairs = enumerate(type_.items)
        return type_._replace(items=tuple([looked_at(t, looked, (*path, k)) for k, t in pairs]))
    if isinstance(type_, DictType):
        items = zip(type_.keys, type_.items, strict=True)
        return type_._replace(items=tuple([looked_at(t, looked, (*path, k)) for k, t in items]))
    if isinstance(type_, BoundType):
        return type_._replace(owner=looked_at(type_.owner, looked, (*path, "__self__")))
    if not isinstance(type_, ObjectType):
        return type_
    names = looked.get(path, ())
    attributes = [
        (name, looked_at(t, looked, (*path, name))) for name, t in type_.attributes if name in names
    ]
    absent = set(names).difference([name for name, _ in attributes])
    return type_._replace(attributes=tuple(attributes), absent=tuple(sorted(absent)))


def found_at(given: Sequence[Any], path: Path) -> Any:
    """Return an argument, or an item or attribute of one; what a weak reference leads to."""
    if path and type(path[0]) is weakref.ref:
        given, path = (path[0](),), (0, *path[1:])
    found: Any = given
    for step in path:
        found = found[step] if isinstance(found, CONTAINERS) else getattr(found, step)
    return found
