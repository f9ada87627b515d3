"""Active numbers of another call: of one round this one, or of one in another thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from mooncake_py.derive.recording import activity
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.recording.memory import undo_assign
from mooncake_py.derive.recording.pulls import pull_state

__all__ = ["foreign_number", "holds_foreign"]


def foreign_number(ctx: Any, entry: tuple[Any, ...]) -> Active | None:
    """Return an active number of another call to which an entry would give a cotangent, or None."""
    if entry[0] is pull_state or entry[0] is undo_assign:
        return None
    todo: list[Any] = [entry]
    while todo:
        part = todo.pop()
        if type(part) is Active:
            if part.context is not ctx:
                return part
        elif type(part) is tuple or type(part) is list:
            todo += part
    return None


def holds_foreign(
    ctx: Any, value: Any, is_foreign: Callable[[ndarray], bool], seen: set[int]
) -> bool:
    """Tell whether a value is or holds a number or an array that is active in another call.

    Parameters
    ----------
    ctx : Context
        This call.
    value : object
    is_foreign : callable
        Tells of an array whether it is.
    seen : set of int
        Filled with the ids of what was looked at.
    """
    if type(value) is Active:
        return value.context is not ctx
    if type(value) in activity.INERT or id(value) in seen:
        return False
    seen.add(id(value))
    if isinstance(value, ndarray):
        return is_foreign(value)
    return any(holds_foreign(ctx, part, is_foreign, seen) for part in activity.parts(value))
