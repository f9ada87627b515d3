"""``copy.copy`` and ``copy.deepcopy``: arrays are copied with their derivative.

The common containers are copied here; for everything else the source of the `copy` module is
derived, and with it the hooks of the user's classes: ``__deepcopy__``, ``__getstate__`` and so on.
"""

from __future__ import annotations

import copy
import copyreg
import dataclasses
from abc import ABCMeta
from collections import OrderedDict, defaultdict, deque
from types import FunctionType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.tangents.contents import FACTORY, MAXLEN

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Calling, Language, Mode

__all__ = ["reduced", "run_copy", "run_deepcopy", "run_replace"]

UNCHANGED = INERT | {Active, FunctionType}
SHALLOW = frozenset({list, tuple, dict, set, frozenset, bytearray})
HEAP_TYPE = 1 << 9
OWN_COPIES = frozenset({
    "__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__getnewargs__",
    "__getnewargs_ex__", "__new__", "__del__", "__getattribute__", "__getattr__", "__class__",
})  # fmt: skip
"""Methods by which a class has a say in how its objects are copied."""
OF_INSTANCES: Any = getattr(dataclasses, "_FIELD")  # noqa: B009


def run_copy(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``copy.copy``."""
    t = type(args[0]) if args else None
    if t is ndarray:
        return ctx.call(ndarray.copy, args[0], "K")
    if t is Active:
        return args[0]
    if t in SHALLOW:
        return f(*args)
    if t is not None and is_its_dict(t, "__copy__") and len(args) == 1 and not kwargs:
        made = object.__new__(t)
        made.__dict__.update(args[0].__dict__)
        return made
    return ctx.call_function(f, args, kwargs)


def is_its_dict(t: Any, hook: str) -> bool:
    """Return whether an object is copied by its attributes alone, and runs no code for it."""
    return (
        type(t) in (type, ABCMeta)
        and t not in copyreg.dispatch_table
        and all(base is object or is_plain(base, hook) for base in t.__mro__)
    )


def is_plain(cls: type, hook: str) -> bool:
    """Return whether a class adds nothing to how objects are copied, nor keeps them elsewhere."""
    held = cls.__dict__
    return (
        cls.__flags__ & HEAP_TYPE > 0
        and hook not in held
        and "__slots__" not in held
        and OWN_COPIES.isdisjoint(held)
    )


def run_replace(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``dataclasses.replace``: fields that are not given are read of the object."""
    fields = getattr(type(args[0]), "__dataclass_fields__", None) if len(args) == 1 else None
    if not fields or not all(is_given(field) for field in fields.values()):
        return ctx.call_function(f, args, kwargs)
    (o,) = args
    others = {name: ctx.getattr(o, name) for name in fields if name not in kwargs}
    return ctx.call(o.__class__, **kwargs, **others)


def is_given(field: Any) -> bool:
    """Return whether a field is one that ``__init__`` takes and the object keeps."""
    return field.init and field._field_type is OF_INSTANCES


def run_deepcopy(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``copy.deepcopy``."""
    return deep_copied(ctx, *args, **kwargs)


def deep_copied(ctx: Calling, x: Any, memo: Any = None) -> Any:
    """Copy one value; `memo` holds the copies so far by the id of the original."""
    memo = {} if memo is None else memo
    t = type(x)
    if t in UNCHANGED:
        return x
    if id(x) in memo:
        return memo[id(x)]
    if t is ndarray:
        result = ctx.call(ndarray.copy, x, "K")
        if x.dtype == object:
            for i, part in enumerate(x.ravel().tolist()):
                result.flat[i] = deep_copied(ctx, part, memo)
    elif t is list:
        result = memo[id(x)] = []
        result.extend(deep_copied(ctx, v, memo) for v in x)
    elif t is dict:
        result = memo[id(x)] = {}
        result.update((deep_copied(ctx, k, memo), deep_copied(ctx, v, memo)) for k, v in x.items())
    elif is_its_dict(t, "__deepcopy__"):
        result = memo[id(x)] = object.__new__(t)
        state = x.__dict__
        if state:
            result.__dict__.update(deep_copied(ctx, state, memo))
    else:
        return ctx.call_function(copy.deepcopy, (x, memo), {})
    memo[id(x)] = result
    memo.setdefault(id(memo), []).append(x)  # ids are reused once an object is gone
    return result


# The parts of an object.

HOOKS = ("__getstate__", "__getnewargs__", "__getnewargs_ex__")


def reduced(ctx: Language, x: Any, protocol: Any) -> Any:
    """Run ``object.__reduce_ex__(x, protocol)`` with the hooks of the class derived."""
    t = type(x)
    if type(t.__reduce__) is FunctionType:
        return ctx.call(t.__reduce__, x)
    if t.__reduce__ is not object.__reduce__:
        return reduced_container(ctx, x, protocol)
    if not any(has_hook(t, name) for name in (*HOOKS, *READING.get(base_of(t), ()))):
        return object.__reduce_ex__(x, protocol)
    maker: Any = copyreg.__newobj__  # type: ignore[attr-defined]
    arguments: tuple[Any, ...] = ()
    if hasattr(t, "__getnewargs_ex__"):
        maker, arguments = copyreg.__newobj_ex__, ctx.call(t.__getnewargs_ex__, x)  # type: ignore[attr-defined]
    elif hasattr(t, "__getnewargs__"):
        arguments = ctx.call(t.__getnewargs__, x)
    items = ctx.call(iter, x) if issubclass(t, list) else None
    pairs = ctx.call(iter, ctx.method(x, "items")) if issubclass(t, dict) else None
    return maker, (t, *arguments), state_of(ctx, x), items, pairs


READING = {list: ("__iter__",), dict: ("items",), deque: ("__iter__",), OrderedDict: ("items",),
           defaultdict: ("items",), set: ("__iter__",), frozenset: ("__iter__",)}  # fmt: skip
"""The methods by which containers are read for a copy."""


def base_of(t: type) -> Any:
    """Return the class in C of containers of a class."""
    return next((base for base in t.__mro__ if base in READING), None)


def state_of(ctx: Language, x: Any) -> Any:
    """Run ``x.__getstate__()``."""
    t: Any = type(x)
    return ctx.call(t.__getstate__, x) if has_hook(t, "__getstate__") else x.__getstate__()


def reduced_container(ctx: Language, x: Any, protocol: Any) -> Any:
    """Run ``object.__reduce_ex__`` of a class that has another ``__reduce__`` in C."""
    t = type(x)
    base = base_of(t)
    own = base is not None and t.__reduce__ is base.__reduce__
    if not own or not any(has_hook(t, name) for name in ("__getstate__", *READING[base])):
        return object.__reduce_ex__(x, protocol)
    if issubclass(t, (set, frozenset)):
        return t, (list(ctx.items(x)),), state_of(ctx, x)
    if issubclass(t, deque):
        maxlen = MAXLEN.__get__(x)
        return t, () if maxlen is None else ((), maxlen), state_of(ctx, x), ctx.call(iter, x)
    pairs = ctx.call(iter, ctx.method(x, "items"))
    if issubclass(t, defaultdict):
        factory = FACTORY.__get__(x)
        return t, () if factory is None else (factory,), None, None, pairs
    return t, (), state_of(ctx, x), None, pairs


def has_hook(t: type, name: str) -> bool:
    """Return whether a class has a method in Python."""
    return type(getattr(t, name, None)) is FunctionType
