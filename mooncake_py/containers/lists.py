"""Changes to lists and bytearrays, each recorded with its inverse before it is made.

The inverse of a change costs about as much as the change: taking one element after the other from a
long queue does not copy the queue each time.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note
from mooncake_py.rules.python_builtins import sorting_order
from mooncake_py.runtime.active import primal_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

__all__ = ["METHODS", "contents", "restore", "snapshot", "truncate"]


def methods_of(o: Any) -> Any:
    """Return the class in C whose methods work on a sequence, past those in Python."""
    if type(o) is list or issubclass(type(o), list):
        return list
    return bytearray if issubclass(type(o), bytearray) else array


def size_of(o: Any) -> int:
    """Return how many items there are, whatever `__len__` of a class in Python says."""
    return len(o) if type(o) is list else methods_of(o).__len__(o)


def position(o: Any, i: Any) -> int:
    """Return an index counted from the start."""
    if type(i) is not int:
        i = operator.index(primal_of(i))
    return i if i >= 0 else i + size_of(o)


def set_item(ctx: Mode, o: Any, i: Any, v: Any) -> None:
    if type(i) is slice:
        set_slice(ctx, o, i, v)
        return
    base = methods_of(o)
    i = position(o, i)
    if 0 <= i < size_of(o):
        note(ctx, base.__setitem__, o, i, base.__getitem__(o, i))
    base.__setitem__(o, i if i >= 0 else -size_of(o) - 1, v)


def items_come_first() -> bool:
    """Return whether this Python finds out where a slice is after it has all new items.

    It does from some release of 3.12 on, for slices of lists to which the iteration adds.
    """
    o = [0]

    def items() -> Iterator[int]:
        o.append(1)
        yield 2

    o[-1:] = items()
    return o == [0, 2]


ITEMS_COME_FIRST = items_come_first()


def set_slice(ctx: Mode, o: Any, i: slice, v: Any) -> None:
    """Run ``o[i] = v`` for a slice."""
    base = methods_of(o)
    start, stop, step = i.indices(size_of(o))
    new = v if base is bytearray else list(iterator_of(ctx, o, i, v))
    if ITEMS_COME_FIRST:
        start, stop, step = i.indices(size_of(o))
    if step == 1:  # what is iterated over may have changed the size
        i = slice(start, max(start, stop))
        note_part(ctx, o, *i.indices(size_of(o))[:2])
    else:
        note(ctx, base.__setitem__, o, i, base.__getitem__(o, i))
    base.__setitem__(o, i, new)


def iterator_of(ctx: Mode, o: Any, i: slice, v: Any) -> Iterator[Any]:
    """Return an iterator over what is assigned to a slice of a list."""
    try:
        if type(v) is not list and type(v) is not tuple:
            v = ctx.call(iter, v)  # of which Python makes a list
        return iter(ctx.items(v))
    except TypeError:
        methods_of(o).__setitem__(o, i, None)  # raises, in the words of a list
        raise


def delete_item(ctx: Recording, o: Any, i: Any) -> None:
    base = methods_of(o)
    if not isinstance(i, slice):
        i = position(o, i)
        if 0 <= i < size_of(o):
            note_part(ctx, o, i, i + 1)
        base.__delitem__(o, i if i >= 0 else -size_of(o) - 1)
        return
    start, stop, step = i.indices(size_of(o))
    if step == 1:
        note_part(ctx, o, start, max(start, stop))
    else:
        snapshot(ctx, o)
    base.__delitem__(o, i)


def note_part(ctx: Recording, o: Any, start: int, stop: int) -> None:
    """Record a part that other items, of whatever number, are about to replace."""
    note(ctx, restore_part, o, start, methods_of(o).__getitem__(o, slice(start, stop)), size_of(o))


def restore_part(o: Any, start: int, old: Any, size: int) -> None:
    """Put a part back that others have replaced; `size` had the whole."""
    stop = start + len(old) + size_of(o) - size
    methods_of(o).__setitem__(o, slice(start, stop), old)


def snapshot(ctx: Recording, o: Any) -> None:
    """Record the whole contents of a sequence that is about to change."""
    note(ctx, restore, o, contents(o))


def contents(o: Any) -> Any:
    """Return a copy of the contents."""
    return methods_of(o).__getitem__(o, slice(None))


def restore(o: Any, old: Any) -> None:
    """Put former contents back."""
    methods_of(o).__setitem__(o, slice(None), old)


# Methods.


def append(ctx: Recording, o: Any, v: Any) -> None:
    base = methods_of(o)
    note(ctx, truncate, o, base.__len__(o))
    base.append(o, v)


def pop(ctx: Recording, o: Any, i: Any = -1) -> Any:
    i = position(o, i)
    if type(o) is list and 0 <= i < len(o):
        note(ctx, put_back, o, i, o[i], len(o))
        return o.pop(i)
    if 0 <= i < size_of(o):
        note_part(ctx, o, i, i + 1)
    return methods_of(o).pop(o, i if i >= 0 else -size_of(o) - 1)


def put_back(o: list[Any], i: int, old: Any, size: int) -> None:
    """Put an item back that was taken out of a list of some size."""
    if len(o) < size:
        o.insert(i, old)


def insert(ctx: Recording, o: Any, i: Any, v: Any) -> None:
    i = min(max(position(o, i), 0), size_of(o))
    note_part(ctx, o, i, i)
    methods_of(o).insert(o, i, v)


def remove(ctx: Recording, o: Any, v: Any) -> None:
    try:
        i = methods_of(o).index(o, v)
    except ValueError:
        methods_of(o).remove(o, v)  # raises
    else:
        pop(ctx, o, i)


def extend(ctx: Mode, o: Any, values: Any) -> None:
    """Run ``o.extend(values)``; items added before an exception remain."""
    items, base = ctx.items(values), methods_of(o)
    if type(items) in (list, tuple) or items is o or base is not list:
        note(ctx, truncate, o, size_of(o))
        base.extend(o, items)
        return
    for v in items:  # what yields them may change the list
        note(ctx, truncate, o, list.__len__(o))
        list.append(o, v)


def truncate(o: Any, size: int) -> None:
    """Remove the items added at the end."""
    methods_of(o).__delitem__(o, slice(size, None))


def add(ctx: Mode, o: Any, values: Any) -> Any:
    extend(ctx, o, values)
    return o


def repeat(ctx: Recording, o: Any, times: Any) -> Any:
    if not hasattr(type(times), "__index__"):
        return [] * times  # raises what the statement does
    times = operator.index(times)
    if times > 0:
        note(ctx, truncate, o, size_of(o))
    else:
        snapshot(ctx, o)
    return methods_of(o).__imul__(o, times)


def reverse(ctx: Recording, o: Any) -> None:
    snapshot(ctx, o)
    methods_of(o).reverse(o)


def sort(ctx: Mode, o: list[Any], *, key: Any = None, reverse: bool = False) -> None:
    """Run ``o.sort()``; it has sorted a part when a comparison raises.

    Meanwhile the list is empty, which keys and comparisons may see.
    """
    items = list.copy(o)
    snapshot(ctx, o)
    list.clear(o)
    result, error = items, None
    try:
        order, error = ctx.call(sorting_order, items, key, reverse)
        result = [items[i] for i in order]
    finally:
        is_changed = list.__len__(o) > 0
        if is_changed:
            snapshot(ctx, o)
        list.__setitem__(o, slice(None), result)
    if error is not None:
        raise error
    if is_changed:
        raise ValueError("list modified during sort")


def clear(ctx: Recording, o: Any) -> None:
    snapshot(ctx, o)
    methods_of(o).clear(o)


def initialize(ctx: Mode, o: Any, *args: Any) -> None:
    """Run ``list.__init__``, which replaces the contents."""
    snapshot(ctx, o)
    methods_of(o).__init__(o, *map(ctx.items, args))


METHODS = {
    "__setitem__": set_item, "__delitem__": delete_item, "__iadd__": add, "__imul__": repeat,
    "__init__": initialize, "append": append, "pop": pop, "insert": insert, "remove": remove,
    "extend": extend, "reverse": reverse, "sort": sort, "clear": clear,
}  # fmt: skip
