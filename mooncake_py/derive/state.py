"""Changes to containers, objects and names, each recorded with its inverse.

Only what existed before the call needs to be undone, but what that is cannot be told cheaply,
so every change is recorded.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import CellType, FunctionType
from typing import Any

from mooncake_py.derive import effects, pulls
from mooncake_py.derive.active import primal_of
from mooncake_py.derive.activity import INERT
from mooncake_py.derive.keys import refuse_other_key
from mooncake_py.derive.mappings import filling

__all__ = [
    "MUTATORS", "call_container_method", "delete_attribute", "delete_item", "inplace_container",
    "log_names", "read_dict", "set_attribute", "set_item",
]

_MISSING = object()


def note(ctx: Any, inverse: Callable[..., Any], *arguments: Any) -> None:
    """Record the inverse of a change that has been or is about to be made."""
    ctx.record((pulls.pull_state, inverse, *arguments))


# Attributes and items.


def set_attribute(ctx: Any, o: Any, name: str, v: Any) -> None:
    """Run ``o.name = v`` natively and record the old value."""
    old = old_attribute(o, name)
    setattr(o, name, v)
    note(ctx, restore_attribute, o, name, old)


def old_attribute(o: Any, name: str) -> Any:
    """Return what an object itself, not its class, holds under a name."""
    for base in type(o).__mro__:
        if name in base.__dict__:
            if hasattr(type(base.__dict__[name]), "__set__"):  # a slot, or a descriptor in C
                return getattr(o, name, _MISSING)
            break
    fields = getattr(o, "__dict__", None)
    return _MISSING if fields is None else fields.get(name, _MISSING)


def delete_attribute(ctx: Any, o: Any, name: str) -> None:
    """Run ``del o.name`` natively and record the old value."""
    old = getattr(o, name, _MISSING)
    delattr(o, name)
    note(ctx, restore_attribute, o, name, old)


def restore_attribute(o: Any, name: str, old: Any) -> None:
    if old is not _MISSING:
        past_python(o, "__setattr__", setattr)(o, name, old)
        return
    with suppress(AttributeError):  # deleted again by the code itself
        past_python(o, "__delattr__", delattr)(o, name)


def past_python(o: Any, method: str, builtin: Any) -> Any:
    """Return what does the work of a special method, past those that are written in Python."""
    if type(getattr(type(o), method)) is not FunctionType:
        return builtin
    methods = (base.__dict__.get(method) for base in type(o).__mro__)
    return next(m for m in methods if m is not None and type(m) is not FunctionType)


def set_item(ctx: Any, o: Any, i: Any, v: Any) -> None:
    """Run ``o[i] = v`` for a container and record the old contents."""
    if isinstance(o, dict):
        old = old_item(o, i)
        o[i] = v
        note(ctx, restore_key, o, i, old)
    elif type(o) is list and type(i) is int:
        old = o[i]
        o[i] = v
        note(ctx, list.__setitem__, o, i, old)
    else:
        if type(i) is slice:
            v = ctx.iter(v) if not isinstance(v, (list, tuple)) else v
        snapshot(ctx, o)
        o[i] = v


def delete_item(ctx: Any, o: Any, i: Any) -> None:
    """Run ``del o[i]`` for a container."""
    snapshot(ctx, o)
    del o[primal_of(i)]


def old_item(o: dict[Any, Any], key: Any) -> Any:
    """Return what a dict holds under a key."""
    return o.get(key, _MISSING)


def restore_key(o: dict[Any, Any], key: Any, old: Any) -> None:
    base = dict_methods(o)
    if old is _MISSING:
        base.pop(o, key, None)
    else:
        base.__setitem__(o, key, old)


def read_dict(ctx: Any, o: Any, i: Any) -> Any:
    """Run ``o[i]`` for a subclass of dict, which may add the missing key."""
    missing = getattr(type(o), "__missing__", None)
    if missing is not None and i not in o:
        if type(missing) is FunctionType:
            return ctx.call(missing, o, i)
        factory = getattr(o, "default_factory", None)
        if factory is not None:
            value = ctx.call(factory)
            set_item(ctx, o, i, value)
            return value
    refuse_other_key(ctx, o, i)
    return o[i]


# Containers as wholes.


def snapshot(ctx: Any, o: Any) -> None:
    """Record the whole contents of a container that is about to change."""
    restore = restorer(o)
    if restore is not None:
        note(ctx, restore, o, contents(o))


def restorer(o: Any) -> Callable[[Any, Any], None] | None:
    """Return what puts the whole contents of a container back, or None if it is none."""
    for base, restore in RESTORERS.items():
        if isinstance(o, base):
            return restore
    return None


def contents(o: Any) -> Any:
    """Return a copy of the contents of a container."""
    base: Any = next(base for base in RESTORERS if isinstance(o, base))
    return list(o) if base is deque else o[:] if base is array else base(o)


def restore_sequence(o: Any, old: Any) -> None:
    type(old).__setitem__(o, slice(None), old)


def dict_methods(o: dict[Any, Any]) -> Any:
    """Return the class in C whose methods keep a dict consistent."""
    return OrderedDict if isinstance(o, OrderedDict) else dict


def restore_dict(o: dict[Any, Any], old: Mapping[Any, Any]) -> None:
    base = dict_methods(o)
    base.clear(o)
    for key, value in old.items():
        base.__setitem__(o, key, value)


def restore_set(o: set[Any], old: set[Any]) -> None:
    set.clear(o)
    set.update(o, old)


def restore_deque(o: deque[Any], old: list[Any]) -> None:
    deque.clear(o)
    deque.extend(o, old)


RESTORERS: dict[type, Callable[[Any, Any], None]] = {
    list: restore_sequence, dict: restore_dict, set: restore_set, deque: restore_deque,
    bytearray: restore_sequence, array: restore_sequence,
}


def inplace_container(ctx: Any, op: Any, x: Any, v: Any) -> Any:
    """Run ``x op= v`` for a container."""
    if isinstance(x, tuple(RESTORERS)):
        snapshot(ctx, x)
        v = ctx.iter(v) if op.name == "add" else ctx.mapping(v)
    return op.inplace(x, primal_of(v) if type(x) is not list else v)


# Methods of containers.


def list_append(ctx: Any, o: list[Any], v: Any) -> None:
    list.append(o, v)
    note(ctx, list.pop, o)


def list_pop(ctx: Any, o: list[Any], i: int = -1) -> Any:
    v = list.pop(o, i)
    if i == -1:
        note(ctx, list.append, o, v)
    else:
        note(ctx, list.insert, o, i if i >= 0 else len(o) + 1 + i, v)
    return v


def list_extend(ctx: Any, o: list[Any], values: Any) -> None:
    n = len(o)
    list.extend(o, ctx.iter(values))
    note(ctx, truncate, o, n)


def truncate(o: list[Any], n: int) -> None:
    del o[n:]


def list_sort(ctx: Any, o: list[Any], *, key: Any = None, reverse: bool = False) -> None:
    ordered = ctx.call(sorted, list(o), key=key, reverse=reverse)
    snapshot(ctx, o)
    o[:] = ordered


def deque_append(ctx: Any, o: deque[Any], v: Any) -> None:
    full = o.maxlen is not None and len(o) == o.maxlen
    if full:
        snapshot(ctx, o)
    deque.append(o, v)
    if not full:
        note(ctx, deque.pop, o)


def deque_appendleft(ctx: Any, o: deque[Any], v: Any) -> None:
    full = o.maxlen is not None and len(o) == o.maxlen
    if full:
        snapshot(ctx, o)
    deque.appendleft(o, v)
    if not full:
        note(ctx, deque.popleft, o)


def deque_pop(ctx: Any, o: deque[Any]) -> Any:
    v = deque.pop(o)
    note(ctx, deque.append, o, v)
    return v


def deque_popleft(ctx: Any, o: deque[Any]) -> Any:
    v = deque.popleft(o)
    note(ctx, deque.appendleft, o, v)
    return v


MUTATORS: dict[type, dict[str, Any]] = {
    list: {
        "append": list_append, "pop": list_pop, "extend": list_extend, "sort": list_sort,
        **dict.fromkeys(
            ("insert", "remove", "clear", "reverse", "__setitem__", "__delitem__", "__iadd__",
             "__imul__")
        ),
    },
    dict: dict.fromkeys(
        ("pop", "popitem", "setdefault", "update", "clear", "__setitem__", "__delitem__",
         "__ior__", "move_to_end", "subtract")
    ),
    set: dict.fromkeys(
        ("add", "discard", "remove", "pop", "clear", "update", "difference_update",
         "intersection_update", "symmetric_difference_update")
    ),
    deque: {
        "append": deque_append, "appendleft": deque_appendleft, "pop": deque_pop,
        "popleft": deque_popleft,
        **dict.fromkeys(
            ("extend", "extendleft", "insert", "remove", "clear", "reverse", "rotate",
             "__setitem__", "__delitem__", "__iadd__")
        ),
    },
    bytearray: dict.fromkeys(
        ("append", "extend", "insert", "pop", "remove", "clear", "reverse", "__setitem__")
    ),
}
COMPARES = frozenset({"index", "count", "remove", "__contains__", "__eq__", "__lt__"})
READING = frozenset({"get", "pop", "setdefault", "__getitem__"})
ITERATING = frozenset({"extend", "extendleft", "update", "fromkeys"})


def call_container_method(
    ctx: Any, o: Any, name: str, args: Any, kwargs: Any, method: Any = None
) -> Any:
    """Run a method of a built-in container; values pass by reference.

    `method` is the bound method in C; by default the one that the object has.
    """
    if method is None:
        method = getattr(o, name)
    guard_natives(ctx, o, name, args)
    mutators = next(table for base, table in MUTATORS.items() if isinstance(o, base))
    if name not in mutators:
        if isinstance(o, dict) and name in READING and args:
            refuse_other_key(ctx, o, args[0])
        return method(*args, **kwargs)
    custom = mutators[name]
    if custom is not None:
        return custom(ctx, o, *args, **kwargs)
    if isinstance(o, dict) and name in READING:
        refuse_other_key(ctx, o, args[0])
    if name == "setdefault" and args[0] in o:
        return o[args[0]]
    if name == "setdefault":
        set_item(ctx, o, args[0], args[1] if len(args) > 1 else None)
        return o[args[0]]
    snapshot(ctx, o)
    if name in ITERATING and args:
        args = [filling(ctx, a) if isinstance(o, dict) else ctx.iter(a) for a in args]
    return method(*args, **kwargs)


def guard_natives(ctx: Any, o: Any, name: str, args: Any) -> None:
    """Refuse values that a container would hash or compare, and that change something then."""
    if isinstance(o, (dict, set)):
        if not INERT.issuperset(map(type, args)):
            keys = [key for a in args for key in (a if isinstance(a, (dict, set)) else (a,))]
            effects.refuse_writers(ctx, keys, effects.HASHING)
    elif name in COMPARES and not INERT.issuperset(map(type, (*o, *args))):
        effects.refuse_writers(ctx, (*o, *args), effects.COMPARING)


# Names.


def log_names(ctx: Any, derived: Any, f: FunctionType) -> None:
    """Record the globals and captured variables that a function may rebind."""
    for name in derived.stored_globals:
        note(ctx, restore_key, f.__globals__, name, old_item(f.__globals__, name))
    if derived.stored_free:
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        for name in derived.stored_free:
            note(ctx, restore_cell, cells[name], old_cell(cells[name]))


def old_cell(cell: CellType) -> Any:
    """Return what a captured variable is bound to."""
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def restore_cell(cell: Any, old: Any) -> None:
    if old is _MISSING:
        del cell.cell_contents
    else:
        cell.cell_contents = old
