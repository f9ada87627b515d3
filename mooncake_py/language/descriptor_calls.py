"""Methods of compiled types called by name: ``list.append(v, x)``, ``super().__setattr__(...)``."""

from __future__ import annotations

import functools
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
)
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers import containers, remaking, state
from mooncake_py.language import (
    array_subclasses,
    construct,
    copies,
    dispatch,
    operators,
    special,
)
from mooncake_py.runtime import activity, buffers
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.attribute_lookup import ACCESSORS, mapping_of
from mooncake_py.runtime.operators import BINARY
from mooncake_py.tangents.subclasses import is_instance

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["call_descriptor"]

CONTAINERS = tuple(containers.CONTAINERS)
CALLABLES = (FunctionType, MethodType, BuiltinFunctionType, np.ufunc)
OF_PARTIAL: Any = (functools.partial.func, functools.partial.args, functools.partial.keywords)


def call_descriptor(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call a method of a compiled type, bound or not."""
    name = f.__name__
    if type(f) is MethodWrapperType:
        receiver, native, bound = f.__self__, f.__objclass__.__dict__[name], f
    elif args:
        receiver, args, native, bound = args[0], args[1:], f, None
    else:
        return f(**kwargs)
    if operators.is_of_numbers(native) and len(args) == 1 and not kwargs:
        return operators.by_name(ctx, name, native.__objclass__, receiver, *args)
    if type(receiver) is ndarray:
        return ctx.method(receiver, name, *args, **kwargs)
    if name in WRITING and issubclass(type(receiver), np.memmap):
        special.run(ctx, np.asarray(receiver), name, args)
        return None if name == "__setitem__" else receiver
    if name in special.OPERATIONS and issubclass(type(receiver), np.memmap):
        return special.run(ctx, np.asarray(receiver), name, args)
    if is_instance(receiver) and is_of_arrays(native):
        ctx.watches = True
        return array_subclasses.call_method(ctx, receiver, name, args, kwargs)
    if type(receiver) is Active and name in OF_TEXT:  # of the class that it is called of
        text = native(activity.unwrapped(receiver), *args, **kwargs)
        return ctx.written(text, whole=True)
    if name in OF_ATTRIBUTES:
        return getattr(ctx, OF_ATTRIBUTES[name])(native, receiver, *args, **kwargs)
    if name == "__call__":
        return call_receiver(ctx, native, receiver, args, kwargs)
    if name in OF_DESCRIPTORS and issubclass(type(receiver), STORED):
        return use_descriptor(ctx, native, receiver, name, args)
    if issubclass(type(receiver), CONTAINERS) or containers.seeks(receiver, name):
        method = native.__get__(receiver) if bound is None else bound
        if native.__objclass__ is dict and name in MAKING:  # of a class above that of the receiver
            return remaking.by_class(ctx, dict, name, receiver, *args)
        return containers.call_method(ctx, receiver, name, args, kwargs, method)
    if name == "__setitem__" and issubclass(type(receiver), buffers.BUFFERS):
        ctx.setitem(receiver, *args)
        return None
    if type(receiver) is MappingProxyType and name in OF_MAPPINGS:
        return special.run(ctx, mapping_of(receiver), name, args)
    if name == "__reduce_ex__" and native is object.__reduce_ex__ and len(args) == 1:
        return copies.reduced(ctx, receiver, *args)
    if name in special.OPERATIONS and has_operators(receiver):
        return special.run(ctx, receiver, name, args)
    if name == "__next__":  # of what goes over arrays in compiled code
        return ctx.call(next, receiver, *args)
    if name.startswith("__") or isinstance(receiver, (str, bytes, tuple)):
        construct.refuse_reading(ctx, f, native, (receiver, *args, *kwargs.values()))
        if name in IN_MEMORY:
            for value in (receiver, *args):
                containers.snapshot(ctx, value)
            if isinstance(receiver, BaseException):
                state.note_exception(ctx, receiver)
        return native(receiver, *args, **kwargs)
    return dispatch.call_opaque(ctx, f, (receiver, *args) if bound is None else args, kwargs)


def is_of_arrays(native: Any) -> bool:
    """Return whether a method is one of ndarray itself, not of `object`."""
    return getattr(native, "__objclass__", None) is ndarray


# Special methods that write: of a subclass of ndarray they are called by its own methods.
WRITING = frozenset({"__setitem__", *(op.inplace_method for op in BINARY.values())})


def has_operators(value: Any) -> bool:
    """Return whether special methods of a value are the operators of numbers and arrays."""
    return type(value) in (ndarray, Active, float, complex, np.float64, np.flatiter)


MAKING = frozenset({"copy", "__or__", "__ror__"})
"""Methods of dicts that return another one."""
OF_MAPPINGS = frozenset({"__getitem__", "__contains__", "__iter__", "__len__"})
IN_MEMORY = frozenset({"__init__", "__set__", "__setstate__"})
OF_TEXT = frozenset({"__repr__", "__str__", "__format__"})


# Attributes.

OF_ATTRIBUTES = {
    "__getattribute__": "own_attribute",
    "__setattr__": "set_own_attribute",
    "__delattr__": "delete_own_attribute",
}


# Calls.


def call_receiver(ctx: Mode, native: Any, receiver: Any, args: Any, kwargs: Any) -> Any:
    """Run ``type.__call__(cls, ...)`` and ``f.__call__(...)``.

    The class of a receiver may have a ``__call__`` of its own, which has called this one.
    """
    t = type(receiver)
    if issubclass(t, type):
        return construct.own_instance(ctx, receiver, args, kwargs)
    if issubclass(t, functools.partial):
        f, *given = (part.__get__(receiver) for part in OF_PARTIAL)
        return ctx.call(f, *given[0], *args, **{**given[1], **kwargs})
    if issubclass(t, staticmethod):
        return ctx.call(staticmethod.__func__.__get__(receiver), *args, **kwargs)
    if issubclass(t, CALLABLES):
        return ctx.call(receiver, *args, **kwargs)
    if native in ctx.handlers:
        return ctx.call(native, receiver, *args, **kwargs)
    return dispatch.call_opaque(ctx, functools.partial(native, receiver), args, kwargs)


# Descriptors called by their own methods.

OF_DESCRIPTORS = ("__get__", "__set__", "__delete__")
STORED = (property, MemberDescriptorType, GetSetDescriptorType)


def use_descriptor(ctx: Mode, native: Any, descriptor: Any, name: str, args: Any) -> Any:
    """Run ``descriptor.__set__(o, v)`` and similar for a property or a slot."""
    if issubclass(type(descriptor), property):
        accessor = getattr(descriptor, ACCESSORS[name])
        if accessor is None or args[0] is None:
            return native(descriptor, *args)
        return ctx.call(accessor, args[0], *(args[1:] if name == "__set__" else ()))
    if name == "__get__":
        return native(descriptor, *args)
    ctx.registry.again += 1  # it may be the state of an object that is being made
    state.change_slot(ctx, descriptor, native, *args)
    return None
