"""Ints of arguments that decide structure: they are known, and compared in each call.

names[order]        which item that is depends on `order`: the function is read for order == 2
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.looked import found_at
from mooncake_py.compiler.native.building.types import (
    DictType,
    KnownType,
    NumberType,
    ObjectType,
    Path,
    TupleType,
    Type,
)
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.regions.ir import Expr, Name, walk

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.calls import CallReader

__all__ = ["pin", "with_pinned"]

INT = NumberType("int")
MOST = 1 << 10  # an int that decides structure is a small one


def pin(r: CallReader, e: Expr) -> None:
    """Find out that ints of arguments must be known, on which an expression depends."""
    names = {part.name for part in walk(e) if isinstance(part, Name)}
    for loop in r.running:  # how often it runs decides whether it is read pass by pass
        if loop.counter in names:
            names |= {p.name for step in loop.steps[:2] for p in walk(step) if isinstance(p, Name)}
    paths = {r.places[name] for name in names if name in r.places and r.types.get(name) == "int"}
    paths = {path for path in paths if 0 <= path[0] < r.passed_first} - r.findings.pinned
    if paths:
        r.findings.pinned |= paths
        raise Again


def with_pinned(
    types: Sequence[Type], paths: Iterable[Path], given: Sequence[Any] | None
) -> Sequence[Type]:
    """Return types in which ints at some paths are known.

    Raises
    ------
    Unfit
        Where no such arguments are given, or they are not small ints.
    """
    found = [*types]
    for path in paths:
        value = None if given is None else found_at(given, path)
        if type(value) is not int or not -MOST < value < MOST:
            raise Unfit("an int of an argument that decides structure")
        found[path[0]] = put(found[path[0]], path[1:], KnownType.of(value))
    return found


def put(type_: Type, path: Path, part: Type) -> Type:
    """Return a type with another part at a path."""
    if not path:
        return part
    first, *rest = path
    match type_:
        case TupleType(items=items):
            keys: Sequence[Any] = range(len(items))
        case DictType(keys=keys, items=items):
            pass
        case ObjectType(attributes=attributes):
            keys, items = zip(*attributes, strict=True)
        case _:
            raise Unfit("an int of an argument that decides structure")
    at = [*keys].index(first)
    changed = (*items[:at], put(items[at], tuple(rest), part), *items[at + 1 :])
    if isinstance(type_, ObjectType):
        return type_._replace(attributes=tuple(zip(keys, changed, strict=True)))
    return type_._replace(items=changed)  # type: ignore[union-attr]
