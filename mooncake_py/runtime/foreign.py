"""Active numbers of another call: of one round this one, or of one in another thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.runtime import activity
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.runtime.pulls import pull_state

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["foreign_number", "foreign_numbers", "held_foreign"]


def foreign_number(ctx: Mode, entry: tuple[Any, ...]) -> Active | None:
    """Return an active number of another call to which an entry would give a cotangent, or None."""
    return next(foreign_numbers(ctx, entry), None)


def foreign_numbers(ctx: Mode, entry: tuple[Any, ...]) -> Iterator[Active]:
    """Yield the active numbers of other calls to which an entry would give a cotangent."""
    if entry[0] is pull_state or entry[0] is undo_assign:
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
    if type(value) is Active:
        if value.context is not ctx:
            yield value
    elif type(value) not in activity.INERT and id(value) not in seen:
        seen.add(id(value))
        if isinstance(value, ndarray):
            yield value
        else:
            for part in activity.parts(value):
                yield from held_foreign(ctx, part, seen)
