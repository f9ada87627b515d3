"""Changes to deques, each recorded with its inverse, including the effects of ``maxlen``."""

from __future__ import annotations

import operator
from collections import deque
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note
from mooncake_py.runtime.active import primal_of

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
    deque.clear(d)
    deque.extend(d, old)


def is_full(d: deque[Any]) -> bool:
    return d.maxlen is not None and len(d) == d.maxlen


def set_item(ctx: Recording, d: deque[Any], i: Any, v: Any) -> None:
    i = operator.index(primal_of(i))
    old = deque.__getitem__(d, i)
    deque.__setitem__(d, i, v)
    note(ctx, deque.__setitem__, d, i, old)


def delete_item(ctx: Recording, d: deque[Any], i: Any) -> None:
    i = operator.index(primal_of(i))
    old = deque.__getitem__(d, i)
    deque.__delitem__(d, i)
    note(ctx, deque.insert, d, i if i >= 0 else i + 1 + len(d), old)


def append(ctx: Recording, d: deque[Any], v: Any) -> None:
    if not is_full(d):
        deque.append(d, v)
        note(ctx, deque.pop, d)
    elif d.maxlen:
        old = deque.__getitem__(d, 0)
        deque.append(d, v)
        note(ctx, replace_last, d, old)


def replace_last(d: deque[Any], first: Any) -> None:
    deque.pop(d)
    deque.appendleft(d, first)


def appendleft(ctx: Recording, d: deque[Any], v: Any) -> None:
    if not is_full(d):
        deque.appendleft(d, v)
        note(ctx, deque.popleft, d)
    elif d.maxlen:
        old = deque.__getitem__(d, -1)
        deque.appendleft(d, v)
        note(ctx, replace_first, d, old)


def replace_first(d: deque[Any], last: Any) -> None:
    deque.popleft(d)
    deque.append(d, last)


def pop(ctx: Recording, d: deque[Any]) -> Any:
    v = deque.pop(d)
    note(ctx, deque.append, d, v)
    return v


def popleft(ctx: Recording, d: deque[Any]) -> Any:
    v = deque.popleft(d)
    note(ctx, deque.appendleft, d, v)
    return v


def extend(ctx: Mode, d: deque[Any], values: Any) -> None:
    for v in list(d) if values is d else ctx.iter(values):
        append(ctx, d, v)


def extendleft(ctx: Mode, d: deque[Any], values: Any) -> None:
    for v in list(d) if values is d else ctx.iter(values):
        appendleft(ctx, d, v)


def add(ctx: Mode, d: deque[Any], values: Any) -> Any:
    extend(ctx, d, values)
    return d


def repeat(ctx: Recording, d: deque[Any], times: Any) -> Any:
    snapshot(ctx, d)
    return deque.__imul__(d, times)


def insert(ctx: Recording, d: deque[Any], i: Any, v: Any) -> None:
    i, size = operator.index(i), len(d)
    deque.insert(d, i, v)
    note(ctx, deque.__delitem__, d, min(i if i >= 0 else max(i + size, 0), size))


def remove(ctx: Mode, d: deque[Any], v: Any) -> None:
    try:
        i = d.index(v)
    except ValueError:
        deque.remove(d, v)  # raises
    else:
        delete_item(ctx, d, i)


def rotate(ctx: Recording, d: deque[Any], n: Any = 1) -> None:
    deque.rotate(d, n)
    note(ctx, deque.rotate, d, -n)


def reverse(ctx: Recording, d: deque[Any]) -> None:
    deque.reverse(d)
    note(ctx, deque.reverse, d)


def clear(ctx: Recording, d: deque[Any]) -> None:
    snapshot(ctx, d)
    deque.clear(d)


def initialize(ctx: Mode, d: deque[Any], values: Any = (), maxlen: int | None = None) -> None:
    """Run ``deque.__init__``, which replaces the contents."""
    note(ctx, deque.__init__, d, list(deque.__iter__(d)), d.maxlen)
    deque.__init__(d, ctx.iter(values), maxlen)


METHODS = {
    "__setitem__": set_item, "__delitem__": delete_item, "__iadd__": add, "__imul__": repeat,
    "__init__": initialize, "append": append, "appendleft": appendleft, "pop": pop,
    "popleft": popleft, "extend": extend, "extendleft": extendleft, "insert": insert,
    "remove": remove, "rotate": rotate, "reverse": reverse, "clear": clear,
}  # fmt: skip
