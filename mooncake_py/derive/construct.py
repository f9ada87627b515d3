"""Creating instances of classes: Python's ``__new__`` and ``__init__`` run derived."""

from __future__ import annotations

import dataclasses
import inspect
from enum import Enum, EnumMeta
from types import FunctionType
from typing import Any

from numpy import ndarray

from mooncake_py.derive import array_protocols, dispatch, effects
from mooncake_py.derive.mappings import filling
from mooncake_py.derive.methods import is_generated
from mooncake_py.derive.native_modules import is_native_module

__all__ = ["instance"]


def instance(ctx: Any, cls: type, args: Any, kwargs: Any) -> Any:
    """Run ``cls(*args, **kwargs)``."""
    maker = type(cls).__call__
    if type(maker) is FunctionType and not isinstance(cls, EnumMeta):
        return ctx.call(maker, cls, *args, **kwargs)
    new: Any = cls.__new__
    init: Any = cls.__init__
    array_protocols.watch(ctx, cls)
    if issubclass(cls, ndarray):
        return dispatch.call_opaque(ctx, cls, args, kwargs)
    if type(new) is not FunctionType and type(init) is not FunctionType:
        return native_instance(ctx, cls, args, kwargs)
    if isinstance(cls, EnumMeta) or is_native_module(cls.__module__):
        return cls(*args, **kwargs)
    effects.refuse_finalizer(ctx, cls)
    made = make(ctx, cls, new, args, kwargs)
    if isinstance(made, cls) and type(init) is FunctionType:
        initialize(ctx, cls, init, made, args, kwargs)
    elif isinstance(made, cls) and init is not object.__init__ and has_own_new(new):
        init(made, *args, **kwargs)
    return made


def has_own_new(new: Any) -> bool:
    """Tell whether ``__new__`` was written by the user."""
    return type(new) is FunctionType and not is_generated(new)


def native_instance(ctx: Any, cls: type, args: Any, kwargs: Any) -> Any:
    """Create an instance whose class has no Python code for it."""
    if issubclass(cls, dict):
        return cls(*[filling(ctx, a) for a in args], **kwargs)
    if issubclass(cls, (list, tuple, set, frozenset)):
        return cls(*map(ctx.iter, args), **kwargs)
    if cls.__new__ is object.__new__ or issubclass(cls, (BaseException, EnumMeta, Enum)):
        return cls(*args, **kwargs)
    return dispatch.call_opaque(ctx, cls, args, kwargs)


def make(ctx: Any, cls: type, new: Any, args: Any, kwargs: Any) -> Any:
    """Run ``cls.__new__``."""
    if type(new) is FunctionType:
        if is_generated(new):
            return new(cls, *args, **kwargs)
        return ctx.call(new, cls, *args, **kwargs)
    if new is object.__new__:
        return object.__new__(cls)
    return new(cls, *args, **kwargs)


def initialize(ctx: Any, cls: type, init: FunctionType, made: Any, args: Any, kwargs: Any) -> None:
    """Run ``__init__``; that of a dataclass is done field by field."""
    if dataclasses.is_dataclass(cls) and is_generated(init):
        initialize_dataclass(ctx, cls, init, made, args, kwargs)
    else:
        ctx.call(init, made, *args, **kwargs)


def initialize_dataclass(
    ctx: Any, cls: type, init: FunctionType, made: Any, args: Any, kwargs: Any
) -> None:
    """Do what the generated ``__init__`` does, with ``__post_init__`` derived."""
    bound = inspect.signature(init).bind(made, *args, **kwargs)
    bound.apply_defaults()
    values = bound.arguments
    init_only: list[Any] = []
    for name, field in cls.__dataclass_fields__.items():  # type: ignore[attr-defined]
        kind = field._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        given = field.init and name in values
        if given and type(values[name]).__name__ != "_HAS_DEFAULT_FACTORY_CLASS":
            value = values[name]
        elif field.default_factory is not dataclasses.MISSING:
            value = ctx.call(field.default_factory)
        elif field.default is not dataclasses.MISSING:
            value = field.default
        else:
            continue  # set by __post_init__
        if kind == "_FIELD_INITVAR":
            init_only.append(value)
        else:
            object.__setattr__(made, name, value)
    post = getattr(cls, "__post_init__", None)
    if post is not None:
        ctx.call(post, made, *init_only)
