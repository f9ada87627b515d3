"""Changes to queues in C, each recorded with its inverse before it is made.

Other threads put items in and take them out meanwhile: theirs stay as they are.  See
`python_queues` for those in Python.
"""

from __future__ import annotations

from _queue import Empty, SimpleQueue
from collections.abc import Callable
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note, once
from mooncake_py.runtime.interrupts import at_once

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


def putting(name: str) -> Callable[..., None]:
    """Return a function that runs a method that puts an item in."""
    method = getattr(SimpleQueue, name)

    def put(ctx: Recording, q: SimpleQueue[Any], item: Any, *args: Any, **kwargs: Any) -> None:
        moved: list[Any] = []
        note(ctx, take_out, q, moved)
        run = partial(method, q, item, *args, **kwargs)
        at_once(starmap(run, [()]), map(moved.append, [item]))

    return put


def getting(name: str) -> Callable[..., Any]:
    """Return a function that runs a method that takes an item out, for which it may wait."""
    method = getattr(SimpleQueue, name)

    def get(ctx: Recording, q: SimpleQueue[Any], *args: Any, **kwargs: Any) -> Any:
        moved: list[Any] = []
        note(ctx, put_first, q, moved)
        run = partial(method, q, *args, **kwargs)
        at_once(map(moved.append, starmap(run, [()])))
        return moved[0]

    return get


@once
def take_out(q: SimpleQueue[Any], moved: list[Any]) -> None:
    """Take out an item that was put in, unless another thread has it by now."""
    if moved:
        items = taken(q)
        last = next((i for i in reversed(range(len(items))) if items[i] is moved[0]), None)
        if last is not None:
            del items[last]
        restore(q, items)
        moved.clear()


@once
def put_first(q: SimpleQueue[Any], moved: list[Any]) -> None:
    """Put an item back that was taken out."""
    restore(q, moved + taken(q))
    moved.clear()


METHODS = {
    "put": putting("put"),
    "put_nowait": putting("put_nowait"),
    "get": getting("get"),
    "get_nowait": getting("get_nowait"),
}
