"""Creating instances of classes: Python's ``__new__`` and ``__init__`` run derived."""

from __future__ import annotations

from collections import deque
from enum import Enum, EnumMeta
from types import FunctionType
from typing import Any

from numpy import ndarray

from mooncake_py.derive.calls import array_subclasses, dispatch
from mooncake_py.derive.calls.native_modules import is_native_module
from mooncake_py.derive.language import array_protocols, effects

__all__ = ["instance", "own_instance"]


def instance(ctx: Any, cls: type, args: Any, kwargs: Any) -> Any:
    """Run ``cls(*args, **kwargs)``."""
    maker = type(cls).__call__
    if type(maker) is FunctionType and not isinstance(cls, EnumMeta):
        return ctx.call(maker, cls, *args, **kwargs)
    return own_instance(ctx, cls, args, kwargs)


def own_instance(ctx: Any, cls: type, args: Any, kwargs: Any) -> Any:
    """Run ``type.__call__(cls, *args, **kwargs)``."""
    new: Any = cls.__new__
    init: Any = cls.__init__
    array_protocols.watch(ctx, cls)
    if issubclass(cls, ndarray):
        if array_subclasses.is_their_class(cls):
            return array_subclasses.make(ctx, cls, args, kwargs)
        return dispatch.call_opaque(ctx, cls, args, kwargs)
    if type(new) is not FunctionType and type(init) is not FunctionType:
        return native_instance(ctx, cls, args, kwargs)
    if isinstance(cls, EnumMeta) or is_native_module(cls.__module__):
        return cls(*args, **kwargs)
    effects.refuse_finalizer(ctx, cls)
    made = make(ctx, cls, new, args, kwargs)
    if isinstance(made, cls) and init is not object.__init__:
        ctx.call(init, made, *args, **kwargs)
    return made


def native_instance(ctx: Any, cls: type, args: Any, kwargs: Any) -> Any:
    """Create an instance whose class has no Python code for it."""
    if issubclass(cls, (list, dict, set, deque)):
        new: Any = cls.__new__
        made = new(cls)
        ctx.call(cls.__init__, made, *args, **kwargs)
        return made
    if issubclass(cls, (tuple, frozenset)):
        return cls(*map(ctx.iter, args), **kwargs)
    if cls.__new__ is object.__new__ or issubclass(cls, (BaseException, EnumMeta, Enum)):
        return cls(*args, **kwargs)
    return dispatch.call_opaque(ctx, cls, args, kwargs)


def make(ctx: Any, cls: type, new: Any, args: Any, kwargs: Any) -> Any:
    """Run ``cls.__new__``."""
    if type(new) is FunctionType:
        return ctx.call(new, cls, *args, **kwargs)
    if new is object.__new__:
        return object.__new__(cls)
    return new(cls, *args, **kwargs)
