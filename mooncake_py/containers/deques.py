"""Changes to deques, each recorded with its inverse before it is made; ``maxlen`` has effects."""

from __future__ import annotations

import operator
from collections import deque
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note
from mooncake_py.runtime.active import primal_of
from mooncake_py.runtime.interrupts import at_once
from mooncake_py.runtime.methods import derivable
from mooncake_py.tangents.contents import MAXLEN

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

__all__ = ["METHODS", "contents", "restore", "snapshot"]


def snapshot(ctx: Recording, d: deque[Any]) -> None:
    """Record the whole contents of a deque that is about to change."""
    note(ctx, restore, d, contents(d))


def contents(d: deque[Any]) -> list[Any]:
    """Return a copy of the contents."""
    return list(deque.__iter__(d))


def restore(d: deque[Any], old: list[Any]) -> None:
    """Put former contents back."""
    at_once(map(deque.clear, (d,)), map(deque.extend, (d,), (old,)))


size_of = deque.__len__  # whatever `__len__` of a class in Python says


def is_full(d: deque[Any]) -> bool:
    return d.maxlen is not None and size_of(d) == d.maxlen


def set_item(ctx: Recording, d: deque[Any], i: Any, v: Any) -> None:
    i = operator.index(primal_of(i))
    note(ctx, deque.__setitem__, d, i, deque.__getitem__(d, i))
    deque.__setitem__(d, i, v)


def delete_item(ctx: Recording, d: deque[Any], i: Any) -> None:
    i = operator.index(primal_of(i))
    note(ctx, put_in, d, i if i >= 0 else i + size_of(d), deque.__getitem__(d, i), size_of(d))
    deque.__delitem__(d, i)


def put_in(d: deque[Any], i: int, old: Any, size: int) -> None:
    """Put back an item that was taken out of a deque of some size."""
    if size_of(d) < size:
        deque.insert(d, i, old)


def take_out(d: deque[Any], i: int, size: int, new: Any) -> None:
    """Take out an item that was put into a deque of some size, never another one.

    Other threads may have put more in, and may have taken what stood before it.
    """
    while i >= 0 and size_of(d) > size:
        if deque.__getitem__(d, i) is new:
            deque.__delitem__(d, i)
            return
        i -= 1


def append(ctx: Recording, d: deque[Any], v: Any) -> None:
    if d.maxlen == 0:
        return
    if is_full(d):
        popleft(ctx, d)
    size = size_of(d)
    note(ctx, take_out, d, size, size, v)
    deque.append(d, v)


def appendleft(ctx: Recording, d: deque[Any], v: Any) -> None:
    if d.maxlen == 0:
        return
    if is_full(d):
        pop(ctx, d)
    note(ctx, take_out, d, 0, size_of(d), v)
    deque.appendleft(d, v)


def pop(ctx: Recording, d: deque[Any]) -> Any:
    size = size_of(d)
    if size:
        note(ctx, put_in, d, size - 1, deque.__getitem__(d, size - 1), size)
    return deque.pop(d)


def popleft(ctx: Recording, d: deque[Any]) -> Any:
    size = size_of(d)
    if size:
        note(ctx, put_in, d, 0, deque.__getitem__(d, 0), size)
    return deque.popleft(d)


def extend(ctx: Mode, d: deque[Any], values: Any) -> None:
    for v in list(d) if values is d else ctx.iter(values):
        append(ctx, d, v)


def extendleft(ctx: Mode, d: deque[Any], values: Any) -> None:
    for v in list(d) if values is d else ctx.iter(values):
        appendleft(ctx, d, v)


def add(ctx: Mode, d: deque[Any], values: Any) -> Any:
    extend(ctx, d, values)
    return d


def repeat(ctx: Mode, d: deque[Any], times: Any) -> Any:
    if size_of(d) > 1 and times > 1 and derivable(d, "__iter__") is not None:
        items = list(ctx.items(d))  # as C, which iterates
        for _ in range(times - 1):
            extend(ctx, d, items)
        return d
    snapshot(ctx, d)
    return deque.__imul__(d, times)


def insert(ctx: Recording, d: deque[Any], i: Any, v: Any) -> None:
    i, size = operator.index(i), size_of(d)
    note(ctx, take_out, d, min(i if i >= 0 else max(i + size, 0), size), size, v)
    deque.insert(d, i, v)


def remove(ctx: Mode, d: deque[Any], v: Any) -> None:
    try:
        i = deque.index(d, v)
    except ValueError:
        deque.remove(d, v)  # raises
    else:
        delete_item(ctx, d, i)


def rotate(ctx: Recording, d: deque[Any], n: Any = 1) -> None:
    n = operator.index(n)
    if 2 * abs(n) > size_of(d):
        snapshot(ctx, d)
        deque.rotate(d, n)
        return
    for _ in range(abs(n)):
        if n > 0:
            appendleft(ctx, d, pop(ctx, d))
        else:
            append(ctx, d, popleft(ctx, d))


def reverse(ctx: Recording, d: deque[Any]) -> None:
    snapshot(ctx, d)
    deque.reverse(d)


def clear(ctx: Recording, d: deque[Any]) -> None:
    snapshot(ctx, d)
    deque.clear(d)


def initialize(ctx: Mode, d: deque[Any], values: Any = (), maxlen: int | None = None) -> None:
    """Run ``deque.__init__``, which replaces the contents."""
    note(ctx, deque.__init__, d, list(deque.__iter__(d)), MAXLEN.__get__(d))
    deque.__init__(d, ctx.iter(values), maxlen)


METHODS = {
    "__setitem__": set_item, "__delitem__": delete_item, "__iadd__": add, "__imul__": repeat,
    "__init__": initialize, "append": append, "appendleft": appendleft, "pop": pop,
    "popleft": popleft, "extend": extend, "extendleft": extendleft, "insert": insert,
    "remove": remove, "rotate": rotate, "reverse": reverse, "clear": clear,
}  # fmt: skip
