"""Active numbers of another call: of an outer one, or of one in another thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import within
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.runtime.pulls import STATES
from mooncake_py.tangents.fields import own_attributes
from mooncake_py.tangents.memory import objects_in
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["foreign_number", "foreign_numbers", "held_foreign"]


def foreign_number(ctx: Mode, entry: tuple[Any, ...]) -> Active | None:
    """Return an active number of another call to which an entry would give a cotangent, or None."""
    return next(foreign_numbers(ctx, entry), None)


def foreign_numbers(ctx: Mode, entry: tuple[Any, ...]) -> Iterator[Active]:
    """Yield the active numbers of other calls to which an entry would give a cotangent."""
    if entry[0] in STATES or entry[0] is undo_assign:
        return
    todo: list[Any] = [entry]
    while todo:
        part = todo.pop()
        if type(part) is Active:
            if part.context is not ctx:
                yield part
        elif type(part) is tuple or type(part) is list:
            todo += part


def held_foreign(ctx: Mode | None, value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the numbers of other calls than this, and the arrays, that a value is or holds."""
    for leaf in within(value, is_leaf, seen):
        if type(leaf) is Active:
            if leaf.context is not ctx:
                yield leaf
            continue
        a = plain(leaf)
        if a.dtype.kind != "O":
            yield a
        inner = [part for place in objects_in(a) for part in place.ravel().tolist()]
        if a is not leaf:
            inner += own_attributes(leaf).values()
        if inner and id(leaf) not in seen:
            seen.add(id(leaf))
            yield from held_foreign(ctx, inner, seen)


def is_leaf(value: Any) -> bool:
    return type(value) is Active or issubclass(type(value), ndarray)
