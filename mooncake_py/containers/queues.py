"""Changes to queues, each recorded with its inverse before it is made.

Other threads put items in and take them out meanwhile: theirs stay as they are.  Queues in Python
also count the items that are not done with.
"""

from __future__ import annotations

import sys
from _queue import Empty, SimpleQueue
from collections.abc import Callable
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note
from mooncake_py.runtime.interrupts import at_once

if TYPE_CHECKING:
    from queue import Queue

    from mooncake_py.runtime.mode import Recording

__all__ = ["COUNT", "METHODS", "SimpleQueue", "contents", "get_item", "is_counted",
           "put_item", "restore", "set_count", "snapshot"]  # fmt: skip

COUNT = "unfinished_tasks"


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
    """Return what runs a method that puts an item in."""
    method = getattr(SimpleQueue, name)

    def put(ctx: Recording, q: SimpleQueue[Any], item: Any, *args: Any, **kwargs: Any) -> None:
        moved: list[Any] = []
        note(ctx, take_out, q, moved)
        run = partial(method, q, item, *args, **kwargs)
        at_once(starmap(run, [()]), map(moved.append, [item]))

    return put


def getting(name: str) -> Callable[..., Any]:
    """Return what runs a method that takes an item out, for which it may wait."""
    method = getattr(SimpleQueue, name)

    def get(ctx: Recording, q: SimpleQueue[Any], *args: Any, **kwargs: Any) -> Any:
        moved: list[Any] = []
        note(ctx, put_first, q, moved)
        run = partial(method, q, *args, **kwargs)
        at_once(map(moved.append, starmap(run, [()])))
        return moved[0]

    return get


def take_out(q: SimpleQueue[Any], moved: list[Any]) -> None:
    """Take out an item that was put in, unless another thread has it by now."""
    if moved:
        items = taken(q)
        last = next((i for i in reversed(range(len(items))) if items[i] is moved[0]), None)
        if last is not None:
            del items[last]
        restore(q, items)
        moved.clear()


def put_first(q: SimpleQueue[Any], moved: list[Any]) -> None:
    """Put an item back that was taken out."""
    restore(q, moved + taken(q))
    moved.clear()


# Queues in Python, which hold their items in a deque.


def is_counted(q: Any) -> bool:
    """Return whether something is a queue in Python whose items are put in first in, first out."""
    module = sys.modules.get("queue")  # which only programs with queues import
    if module is None or not issubclass(type(q), module.Queue):
        return False
    return type(q)._put is module.Queue._put


def put_item(ctx: Recording, q: Queue[Any], item: Any) -> None:
    """Run ``Queue._put``."""
    moved: list[Any] = []
    note(ctx, take_item_out, q, moved)
    at_once(map(q.queue.append, [item]), map(moved.append, [item]))


def get_item(ctx: Recording, q: Queue[Any]) -> Any:
    """Run ``Queue._get``."""
    moved: list[Any] = []
    note(ctx, put_item_first, q, moved)
    at_once(map(moved.append, starmap(q.queue.popleft, [()])))
    return moved[0]


def take_item_out(q: Queue[Any], moved: list[Any]) -> None:
    """Take out an item that was put in; if another thread has it by now, it is to be counted."""
    if moved:
        items = q.queue
        last = next((i for i in reversed(range(len(items))) if items[i] is moved[0]), None)
        if last is not None:
            del items[last]
        elif is_counted(q):
            q.unfinished_tasks += 1  # its own count is taken back before
        moved.clear()


def put_item_first(q: Queue[Any], moved: list[Any]) -> None:
    """Put an item back that was taken out."""
    q.queue.extendleft(moved)
    moved.clear()


def count_back(q: Queue[Any], counted: list[int]) -> None:
    """Take a change of the count back, whatever others have counted since."""
    q.unfinished_tasks -= sum(counted)
    counted.clear()


def set_count(ctx: Recording, q: Queue[Any], setter: Callable[..., None], n: int) -> None:
    """Run ``q.unfinished_tasks = n``."""
    change = n - q.unfinished_tasks
    counted: list[int] = []
    note(ctx, count_back, q, counted)
    at_once(starmap(setter, [(q, COUNT, n)]), map(counted.append, [change]))


METHODS = {
    "put": putting("put"),
    "put_nowait": putting("put_nowait"),
    "get": getting("get"),
    "get_nowait": getting("get_nowait"),
}
