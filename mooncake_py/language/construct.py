"""Creating instances of classes: Python's ``__new__`` and ``__init__`` run derived."""

from __future__ import annotations

import functools
from collections import deque
from contextlib import suppress
from enum import Enum, EnumMeta, Flag
from types import FunctionType, GenericAlias, MethodType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.seen_calls import run_seen
from mooncake_py.containers import containers, hooks
from mooncake_py.diagnostics.native_modules import is_constant_library, is_native_module
from mooncake_py.language import array_protocols, constant_libraries, dispatch
from mooncake_py.language.class_statements import is_of_program, new_class
from mooncake_py.language.subclass_instances import new_array
from mooncake_py.modules import module_of
from mooncake_py.runtime.active import plain_class
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.runtime.slots import type_name

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Language, Mode, Tracking

__all__ = [
    "KEEPING",
    "derived_instance",
    "from_keys",
    "has_python_metaclass",
    "instance",
    "keeps_references",
    "maker",
    "native_instance",
    "of_alias",
    "own_instance",
    "refuse_reading",
]  # fmt: skip

SCALARS = (int, float, complex, str)
FILLED_LATER = (list, dict, set, deque)
KEEPING = (functools.partial, property, staticmethod, classmethod, SimpleNamespace)
"""Classes in C that keep what they are made of by reference, in `__new__` too."""
METHODS = frozenset({FunctionType, type(object.__init__)})
KEEPS_REFERENCES = frozenset({
    "_queue", "_thread", "abc", "builtins", "collections", "contextvars", "functools",
    "itertools", "operator", "types", "typing", "weakref",
})  # fmt: skip


def instance(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Run ``cls(*args, **kwargs)``."""
    hooks.refuse_metaclass(ctx, cls)
    if has_python_metaclass(cls):
        return ctx.call(type(cls).__call__, cls, *args, **kwargs)
    return own_instance(ctx, cls, args, kwargs)


def has_python_metaclass(cls: type) -> bool:
    """Return whether a metaclass in Python makes the instances of a class."""
    return type(type(cls).__call__) is FunctionType and not isinstance(cls, EnumMeta)


def own_instance(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Run ``type.__call__(cls, *args, **kwargs)``."""
    return maker(ctx, cls)(ctx, cls, args, kwargs)


def maker(ctx: Mode, cls: type) -> Handler:
    """Return a function that makes instances of a class."""
    array_protocols.watch(ctx, cls)
    if issubclass(cls, type):
        return make_class
    if is_constant_library(module_of(cls)):
        return constant_libraries.make
    if issubclass(cls, ndarray):
        return array_instance
    hooks.refuse_finalizer(ctx, cls)
    if not is_python(cls.__new__) and not is_python(cls.__init__):
        return native_instance
    if isinstance(cls, EnumMeta) or is_native_module(module_of(cls)):
        return instance_out_of_sight
    return derived_instance


def make_class(ctx: Mode, meta: type, args: Any, kwargs: Any) -> Any:
    """Make a class by its metaclass, whose code runs derived unless it is of a library."""
    new: Any = meta.__new__
    if not (is_of_program(new) or is_of_program(meta.__init__)):
        return new_class(ctx, functools.partial(type.__call__, meta), args, kwargs)
    if is_of_program(new):
        made = ctx.call(new, meta, *args, **kwargs)
    else:
        made = new_class(ctx, new, (meta, *args), kwargs)
    if isinstance(made, meta):
        if is_of_program(type(made).__init__):
            initialize(ctx, made, args, kwargs)
        else:
            type(made).__init__(made, *args, **kwargs)
    return made


def array_instance(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Create an instance of a class of arrays."""
    made = make_array(ctx, cls, args, kwargs)
    if isinstance(made, cls):
        initialize(ctx, made, args, kwargs)
    return made


def instance_out_of_sight(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Create an instance by code that has no part in derivatives."""
    if isinstance(cls, EnumMeta) and not cls.__members__ and (len(args) > 1 or kwargs):
        return new_class(ctx, cls, args, kwargs)
    looking_up = getattr(getattr(cls, "_missing_", None), "__func__", None)
    run = functools.partial(cls, *args, **kwargs)
    if issubclass(cls, Flag):  # which remembers combinations
        known: Any = cls._value2member_map_
        if not (args and type(args[0]) is int and args[0] in known):
            containers.snapshot(ctx, known)
    return run_seen(ctx, cls, (looking_up, *args, *kwargs.values()), run)


def derived_instance(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Create an instance by Python code that runs derived."""
    made = make(ctx, cls, cls.__new__, args, kwargs)
    if isinstance(made, cls):
        initialize(ctx, made, args, kwargs)
    return made


def from_keys(ctx: Mode, cls: type, keys: Any, /, value: Any = None) -> Any:
    """Run ``cls.fromkeys(keys, value)`` of a subclass of dict, whose methods may be in Python."""
    made = ctx.call(cls)
    for key in ctx.iter(keys):
        ctx.setitem(made, key, value)
    return made


def of_alias(ctx: Mode, alias: GenericAlias, args: Any, kwargs: Any) -> Any:
    """Run ``list[float](...)`` and similar: what is made is told the alias, if it can keep it."""
    made = ctx.call(alias.__origin__, *args, **kwargs)
    with suppress(AttributeError, TypeError):
        ctx.setattr(made, "__orig_class__", alias)
    return made


def make_array(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Create an instance of a class of arrays."""
    new: Any = cls.__new__
    active = any(map(ctx.contains_active, (*args, *kwargs.values())))
    if cls is ndarray or (module_of(cls).startswith("numpy") and not active):
        return dispatch.call_opaque(ctx, cls, args, kwargs)
    if is_python(new):
        return ctx.call(new, cls, *args, **kwargs)
    return new_array(ctx, cls, *args, **kwargs)


def is_python(f: Any) -> bool:
    """Return whether what a class holds as ``__new__`` or ``__init__`` runs code in Python."""
    return isinstance(f, (FunctionType, MethodType, functools.partial)) or (
        type(type(f).__call__) is FunctionType
    )


def native_instance(ctx: Mode, cls: type, args: Any, kwargs: Any) -> Any:
    """Create an instance whose class has no Python code for it; a metaclass's has run."""
    native = functools.partial(type.__call__, cls) if has_python_metaclass(cls) else cls
    if issubclass(cls, FILLED_LATER):
        new: Any = cls.__new__
        made = new(cls)
        initialize(ctx, made, args, kwargs)
        return made
    if issubclass(cls, (tuple, frozenset)):
        return native(*map(ctx.iter, args), **kwargs)
    if issubclass(cls, KEEPING):
        return native(*args, **kwargs)
    if cls.__new__ is object.__new__ or issubclass(cls, (BaseException, EnumMeta, Enum)):
        refuse_reading(ctx, cls, cls.__init__, (*args, *kwargs.values()))
        return native(*args, **kwargs)
    if issubclass(cls, SCALARS) and len(args) == 1 and not kwargs:
        args = (converted(ctx, cls, args[0]),)
    elif cls.__new__ in ctx.handlers:  # of a subclass: it is not an instance yet
        made = ctx.call(cls.__new__, cls, *args, **kwargs)
        initialize(ctx, made, args, kwargs)
        return made
    return dispatch.call_opaque(ctx, native, args, kwargs)


def converted(ctx: Mode, cls: type, value: Any) -> Any:
    """Return the value of a new instance of a subclass of a number or string, converted derived."""
    if type(value) in INERT or issubclass(type(value), ndarray):
        return value
    ctx.refuse_if_active(cls, (value,))
    base = next(base for base in SCALARS if issubclass(cls, base))
    return ctx.call(base, value)


def refuse_reading(ctx: Tracking, f: Any, method: Any, values: Any) -> None:
    """Raise if a compiled method, part of `f`, would read active values rather than keep them.

    What Python's own types are given they keep by reference, or convert to a number, which an
    active one refuses.  Of others no one knows what they compute.
    """
    if not keeps_references(method):
        ctx.refuse_if_active(f, values)


def keeps_references(method: Any) -> bool:
    """Return whether a compiled method is of a type of Python's own, which keeps what it gets."""
    of = getattr(method, "__objclass__", None)
    return of is not None and module_of(of) in KEEPS_REFERENCES


def make(ctx: Mode, cls: type, new: Any, args: Any, kwargs: Any) -> Any:
    """Run ``cls.__new__``."""
    if is_python(new) or issubclass(cls, (tuple, frozenset)):
        return ctx.call(new, cls, *args, **kwargs)
    if new is object.__new__ or issubclass(cls, FILLED_LATER):
        return new(cls)
    if issubclass(cls, int):
        return new(cls, *map(unwrapped, args), **kwargs)
    if not issubclass(cls, (BaseException, type, *KEEPING)):
        ctx.refuse_if_active(cls, (*args, *kwargs.values()))
    return new(cls, *args, **kwargs)


def initialize(ctx: Language, made: Any, args: Any, kwargs: Any) -> None:
    """Run ``__init__`` of what ``__new__`` has made, which may be of a subclass."""
    kind = type(made)
    if kind.__init__ is object.__init__:
        return
    init: Any = in_class(kind, "__init__")
    if type(init) in METHODS:
        args = (made, *args)
    elif hasattr(type(init), "__get__"):  # of an object it may be that of what the object wraps
        init = type(init).__get__(init, made, kind)
    result = ctx.call(init, *args, **kwargs)
    if result is not None:
        raise not_none(result)


def not_none(result: Any) -> TypeError:
    """Return Python's error for an ``__init__`` that returns something."""
    return TypeError(f"__init__() should return None, not '{type_name(plain_class(result))}'")
