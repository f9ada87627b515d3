"""Containers of Python: every change of one is recorded, with its inverse."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.containers import (
    decimals,
    deques,
    dicts,
    effects,
    foreign_memory,
    lists,
    queues,
    remaking,
    sets,
)
from mooncake_py.containers.keys import refuse_other_key
from mooncake_py.containers.positions import position
from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.errors import MissingRuleError
from mooncake_py.remembered import remembered
from mooncake_py.runtime import buffers
from mooncake_py.runtime.active import primal_of
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.buffers import CDATA, REFERENCE
from mooncake_py.runtime.identities import have_copies
from mooncake_py.tangents.contents import elements_of
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

__all__ = [
    "COMPARES", "CONTAINERS", "INDEXED", "call_method", "delete_item", "inplace_operator",
    "module_of", "seeks", "set_item", "snapshot",
]  # fmt: skip

CONTAINERS: dict[type, Any] = {
    list: lists, dict: dicts, set: sets, deque: deques, bytearray: lists,
    queues.SimpleQueue: queues,
}  # fmt: skip
"""For each class the module with the methods that change its instances: ``(context, o, ...)``."""

COMPARES = frozenset({"index", "count", "remove", "__contains__", "__eq__", "__lt__"})
SEEKING = frozenset({"index", "count", "remove", "__contains__"})
INDEXED = frozenset({
    "__getitem__", "__setitem__", "__delitem__", "__imul__", "insert", "pop", "rotate",
})  # fmt: skip
"""Methods of sequences that take a position, or a count, first."""
MEMORY = (CDATA, REFERENCE)
READING = frozenset({"get", "pop", "setdefault", "__getitem__"})


def changes_of(o: Any) -> dict[str, Callable[..., Any]]:
    """Return the methods that change a container; empty for other values."""
    module = CONTAINERS.get(type(o))
    if module is None:
        module = next((m for base, m in CONTAINERS.items() if issubclass(type(o), base)), None)
    return {} if module is None else module.METHODS


def call_method(ctx: Mode, o: Any, name: str, args: Any, kwargs: Any, method: Any = None) -> Any:
    """Run a method of a built-in container; values pass by reference.

    `method` is the bound method in C; by default the one that the object has.
    """
    guard(ctx, o, name, args)
    if name in SEEKING and have_copies():
        args = (*(as_held(ctx, o, v) for v in args[:1]), *args[1:])
    if name in READING and issubclass(type(o), dict) and args:
        refuse_other_key(ctx, o, args[0])
    if name in INDEXED and args and not issubclass(type(o), (dict, set)):
        args = (position(ctx, args[0]), *args[1:])
    change = changes_of(o).get(name)
    if change is None and name in remaking.NAMES and type(o) not in CONTAINERS:
        change = remaking.method_of(type(o), name)
    if change is not None:
        try:
            return change(ctx, o, *args, **kwargs)
        except BufferError:
            if not buffers.is_lent(ctx, o):
                raise
            raise kept_in_use(ctx, o) from None
    if method is None:
        method = getattr(o, name)
    if name in sets.ITERATING and issubclass(type(o), (set, frozenset)):
        args = sets.iterated(ctx, args, name)
    return method(*args, **kwargs)


def kept_in_use(ctx: Mode, o: Any) -> MissingRuleError:
    """Return the error for a buffer that changes its size while there is an array over it."""
    kind = type(o).__name__
    return unsupported(
        ctx,
        f"{with_article(kind)} changes its size while an array uses its memory",
        why="the array is needed on the way back; the program may have let go of it",
        fix=f"compute with a copy, as in np.array(buffer), or make another {kind}",
    )


def as_held(ctx: Mode, o: Any, value: Any) -> Any:
    """Return the item that a sequence holds for a value sought: it may hold copies of arguments."""
    if type(value) in INERT:
        return value
    return next((v for v in elements_of(o) if ctx.contained(value, (v,))), value)


def seeks(o: Any, name: str) -> bool:
    """Return whether a method of a tuple compares an argument with what the tuple holds."""
    return name in SEEKING and issubclass(type(o), tuple)


def guard(ctx: Mode, o: Any, name: str, args: Any) -> None:
    """Refuse values that a container would hash or compare, and that change something then."""
    if issubclass(type(o), (dict, set)):
        if not INERT.issuperset(map(type, args)):
            keys = [key for a in args for key in keys_in(o, name, a)]
            effects.refuse_writers(ctx, keys, effects.HASHING)
    elif name in COMPARES:
        compared = (*(elements_of(o) if type(o) is not list else o), *args)
        if not INERT.issuperset(map(type, compared)):
            effects.refuse_writers(ctx, compared, effects.COMPARING)


def keys_in(o: Any, name: str, a: Any) -> Any:
    """Return the part of an argument that a method of a dict or a set hashes."""
    if issubclass(type(a), (dict, set)):
        return elements_of(a)
    if name == "update" and issubclass(type(o), dict) and type(a) in (list, tuple):
        return [pair[0] for pair in a if type(pair) in (list, tuple) and len(pair) == 2]
    return (a,)


def set_item(ctx: Mode, o: Any, i: Any, v: Any) -> None:
    """Run ``o[i] = v`` where the class has no code in Python for it."""
    change = changes_of(o).get("__setitem__")
    if change is None:
        setter = getattr(type(o), "__setitem__", None)
        if setter is not None:
            ctx.refuse_if_active(setter, (v,))  # it may keep numbers, not references
        if issubclass(type(o), CDATA):
            foreign_memory.snapshot(ctx, o, primal_of(i))
        else:
            snapshot(ctx, o)
        o[primal_of(i)] = v
    else:
        change(ctx, o, i, v)


def delete_item(ctx: Mode, o: Any, i: Any) -> None:
    """Run ``del o[i]`` where the class has no code in Python for it."""
    change = changes_of(o).get("__delitem__")
    if change is None:
        snapshot(ctx, o)
        del o[primal_of(i)]
    else:
        change(ctx, o, i)


def inplace_operator(ctx: Mode, op: Any, x: Any, v: Any) -> Any:
    """Run ``x op= v`` by the method of a class in C, which may return NotImplemented."""
    change = changes_of(x).get(op.inplace_method)
    if change is not None:
        return change(ctx, x, primal_of(v))
    snapshot(ctx, x)
    return getattr(type(x), op.inplace_method)(x, primal_of(v))


# The contents as a whole.

MODULES: dict[type, Any] = {**CONTAINERS, array: lists}


def module_of(o: Any) -> Any:
    """Return the module for a kind of container, None for other values."""
    return module_of_class(type(o))


@remembered
def module_of_class(t: type) -> Any:
    """Return the module for the instances of a class, None for those of others."""
    return next((module for base, module in MODULES.items() if issubclass(t, base)), None)


def snapshot(ctx: Recording, o: Any) -> None:
    """Record the whole contents of a container that is about to change."""
    module = module_of(o)
    if module is not None:
        module.snapshot(ctx, o)
    elif issubclass(type(o), MEMORY):
        foreign_memory.keep(ctx, o)
    elif decimals.is_context(o):
        decimals.snapshot(ctx, o)
