"""Changes to dicts, each recorded with its inverse before it is made.

The inverse of a change uses the key and ignores the order, so that it costs as much as the change;
the order is recorded once, before the first change that would lose it.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, defaultdict
from itertools import repeat
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.keys import refuse_other_key
from mooncake_py.containers.mappings import filling
from mooncake_py.containers.undo import is_plain_key, note
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.interrupts import at_once
from mooncake_py.tangents.contents import FACTORY, dict_base, plain_dict

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

__all__ = ["METHODS", "contents", "note_order", "read_key",
           "restore", "restore_key", "snapshot", "value_at"]  # fmt: skip


def set_key(ctx: Recording, d: dict[Any, Any], key: Any, v: Any) -> None:
    note(ctx, restore_key, d, key, value_at(d, key))
    dict_base(d).__setitem__(d, key, v)


def value_at(d: dict[Any, Any], key: Any) -> Any:
    """Return the value of a dict under a key, or MISSING."""
    return dict.get(d, key, MISSING)


def restore_key(d: dict[Any, Any], key: Any, old: Any) -> None:
    """Undo a change of one key.

    A weak reference to an object that is gone, as in a `weakref.WeakKeyDictionary`, took its entry
    with it: none is put back that nothing could take out.
    """
    base = dict_base(d)
    if old is MISSING:
        base.pop(d, key, None)
    elif not (isinstance(key, weakref.ref) and key() is None):
        base.__setitem__(d, key, old)


def delete_key(ctx: Recording, d: dict[Any, Any], key: Any) -> None:
    old = value_at(d, key)
    if old is not MISSING:
        note_order(ctx, d)
        if is_plain_key(key):
            note(ctx, restore_key, d, key, old)
        else:
            snapshot(ctx, d)
    dict_base(d).__delitem__(d, key)


def read_key(ctx: Mode, d: dict[Any, Any], key: Any) -> Any:
    """Run ``d[key]`` for a subclass of dict, which may add the missing key."""
    missing = getattr(type(d), "__missing__", None)
    if missing is not None and not dict.__contains__(d, key):
        if type(missing) is FunctionType:
            return ctx.call(missing, d, key)
        if getattr(d, "default_factory", None) is not None:
            return make_missing(ctx, d, key)
    refuse_other_key(ctx, d, key)
    return dict.__getitem__(d, key)


def make_missing(ctx: Mode, d: Any, key: Any) -> Any:
    """Run ``defaultdict.__missing__``, which may be called by name too."""
    factory = FACTORY.__get__(d)
    if factory is None:
        return defaultdict.__missing__(d, key)  # raises
    value = ctx.call(factory)
    ctx.setitem(d, key, value)
    return value


# The order of the keys.


def note_order(ctx: Recording, d: dict[Any, Any]) -> None:
    """Record the order of the keys before the first change that loses it."""
    if id(d) not in ctx.ordered:
        ctx.ordered[id(d)] = d
        note(ctx, restore_order, d, list(dict_base(d).__iter__(d)), ctx.ordered)


def restore_order(d: dict[Any, Any], keys: list[Any], ordered: Any) -> None:
    """Undo changes of the order; one to come, in a part that is run again, must be recorded."""
    ordered.pop(id(d), None)
    base = dict_base(d)
    present = list(base.__iter__(d))
    if len(present) == len(keys) and all(a is b for a, b in zip(present, keys, strict=True)):
        return
    # Where a roll back was interrupted and starts again, what came after may be undone already.
    restore(d, {key: dict.__getitem__(d, key) for key in keys if dict.__contains__(d, key)})


def snapshot(ctx: Recording, d: dict[Any, Any]) -> None:
    """Record the whole contents of a dict that is about to change."""
    note(ctx, restore, d, contents(d))


def contents(d: dict[Any, Any]) -> dict[Any, Any]:
    """Return a copy of the contents, in their order."""
    return plain_dict(d).copy() if type(d) is dict else plain_dict(d)


def restore(d: dict[Any, Any], old: dict[Any, Any]) -> None:
    """Put former contents back."""
    base = dict_base(d)
    at_once(map(base.clear, (d,)), map(base.__setitem__, repeat(d), old.keys(), old.values()))


# Methods.


def update(ctx: Mode, d: dict[Any, Any], /, *others: Any, **values: Any) -> None:
    """Run ``d.update(...)``; items set before an exception remain."""
    new: dict[Any, Any] = {}
    try:
        dict.update(new, *(source(ctx, d, other, new) for other in others), **values)
    finally:
        if asks_its_methods(d):
            for key, value in new.items():
                ctx.setitem(d, key, value)
        else:
            note(ctx, restore_keys, d, {key: value_at(d, key) for key in new})
            base = dict_base(d)
            for key, value in new.items():
                base.__setitem__(d, key, value)


def source(ctx: Mode, d: dict[Any, Any], other: Any, new: dict[Any, Any]) -> Any:
    """Return the source from which `d` is updated, for a dict of `new` items set in the end.

    Iterators in Python may look at `d`: what they yield is set at once.
    """
    found = filling(ctx, other, isinstance(d, OrderedDict))
    is_mapping = hasattr(found, "keys")
    if is_mapping and asks_its_methods(d):
        pairs = ((key, ctx.getitem(found, key)) for key in ctx.iter(found.keys()))
        return set_at_once(ctx, d, pairs, new)
    return found if is_mapping or type(other) is list else set_at_once(ctx, d, found, new)


def set_at_once(ctx: Mode, d: dict[Any, Any], pairs: Any, new: dict[Any, Any]) -> Any:
    """Yield pairs; each is in `new` when the next is asked for, and is taken from there."""
    for pair in pairs:
        yield pair
        key, value = new.popitem()
        if asks_its_methods(d):
            ctx.setitem(d, key, value)
        else:
            set_key(ctx, d, key, value)


def asks_its_methods(d: dict[Any, Any]) -> bool:
    """Return whether methods in C read and set items by other methods, which may be in Python."""
    return issubclass(type(d), OrderedDict) and type(d) is not OrderedDict


def restore_keys(d: dict[Any, Any], old: dict[Any, Any]) -> None:
    for key in reversed(old):
        restore_key(d, key, old[key])


def pop(ctx: Recording, d: dict[Any, Any], key: Any, *default: Any) -> Any:
    if dict.__contains__(d, key):
        value = dict.__getitem__(d, key)
        delete_key(ctx, d, key)
        return value
    return dict_base(d).pop(d, key, *default)


def popitem(ctx: Recording, d: Any, *args: Any, **kwargs: Any) -> Any:
    base: Any = dict_base(d)
    if base is OrderedDict:
        note_order(ctx, d)  # the first item may go
    if base.__len__(d):
        is_last = all([*args, *kwargs.values()])  # of an ordered dict either end may go
        key = next(base.__reversed__(d) if is_last else base.__iter__(d))
        note(ctx, restore_key, d, key, value_at(d, key))
    return base.popitem(d, *args, **kwargs)


def setdefault(ctx: Mode, d: dict[Any, Any], key: Any, default: Any = None) -> Any:
    if asks_its_methods(d):
        if ctx.contained(key, d):
            return ctx.getitem(d, key)
        ctx.setitem(d, key, default)
        return default
    if not dict.__contains__(d, key):
        set_key(ctx, d, key, default)
    return dict.__getitem__(d, key)


def clear(ctx: Recording, d: dict[Any, Any]) -> None:
    snapshot(ctx, d)
    dict_base(d).clear(d)


def move_to_end(ctx: Recording, d: OrderedDict[Any, Any], key: Any, last: bool = True) -> None:
    note_order(ctx, d)
    OrderedDict.move_to_end(d, key, last)


def merge(ctx: Mode, d: dict[Any, Any], other: Any) -> Any:
    update(ctx, d, other)
    return d


def initialize(ctx: Mode, d: dict[Any, Any], /, *args: Any, **values: Any) -> None:
    """Run ``dict.__init__``, which adds to the contents."""
    if issubclass(type(d), defaultdict):
        with_factory: Any = d
        note(ctx, FACTORY.__set__, d, FACTORY.__get__(d))
        defaultdict.__init__(with_factory, *args[:1])
        args = args[1:]
    update(ctx, d, *args, **values)


METHODS = {
    "__setitem__": set_key, "__delitem__": delete_key, "__ior__": merge, "__init__": initialize,
    "pop": pop, "popitem": popitem, "setdefault": setdefault, "update": update, "clear": clear,
    "move_to_end": move_to_end, "__missing__": make_missing,
}  # fmt: skip
