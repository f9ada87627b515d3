"""Changes to queues in C, each recorded with the contents before it."""

from __future__ import annotations

from _queue import Empty, SimpleQueue
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Recording

__all__ = ["METHODS", "SimpleQueue", "contents", "restore", "snapshot"]


def snapshot(ctx: Recording, q: SimpleQueue[Any]) -> None:
    """Record the whole contents of a queue that is about to change."""
    note(ctx, restore, q, contents(q))


def contents(q: SimpleQueue[Any]) -> list[Any]:
    """Return the items that wait, which can be read only by taking them out."""
    found = taken(q)
    for item in found:
        q.put(item)
    return found


def restore(q: SimpleQueue[Any], old: list[Any]) -> None:
    """Put former contents back."""
    taken(q)
    for item in old:
        q.put(item)


def taken(q: SimpleQueue[Any]) -> list[Any]:
    """Take all items out."""
    found: list[Any] = []
    while True:
        try:
            found.append(q.get_nowait())
        except Empty:
            return found


def changing(name: str) -> Callable[..., Any]:
    """Return what runs a method that changes a queue."""
    method = getattr(SimpleQueue, name)

    def change(ctx: Recording, q: SimpleQueue[Any], *args: Any, **kwargs: Any) -> Any:
        snapshot(ctx, q)
        return method(q, *args, **kwargs)

    return change


METHODS = {name: changing(name) for name in ("put", "put_nowait", "get", "get_nowait")}
