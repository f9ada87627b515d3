"""Attribute look-up: the Python code that a read or a write of an attribute runs.

`getattr` would run properties, descriptors and ``__getattr__`` natively.  So the engine first finds
them, in Python's order, and then derives them.
"""

from __future__ import annotations

import enum
import functools
import gc
import weakref
from collections.abc import Callable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, cast

from numpy import ndarray

from mooncake_py.by_identity import Types
from mooncake_py.modules import module_of
from mooncake_py.runtime import buffers, frames
from mooncake_py.tangents.fields import instance_dict

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Calling

__all__ = [
    "MISSING", "PROXIES", "Reader", "changer", "class_reader",
    "in_class", "in_python", "instance_reader", "is_kept_by_instances",
    "mapping_of", "own_class_reader", "own_reader", "referent", "super_reader",
]  # fmt: skip

MISSING: Any = object()
PROXIES = Types(weakref.ProxyTypes)
COMPILED = (WrapperDescriptorType, MethodDescriptorType)

Reader = Callable[["Calling", Any], Any]
"""``(context, object) -> value``; None stands for what Python itself does."""


def in_class(cls: type, name: str) -> Any:
    """Return the unbound attribute that a class or its bases define under a name, or MISSING."""
    for base in cls.__mro__:  # as `in_order`, without its call: each operation comes here
        held = base.__dict__
        if name in held:
            return held[name]
    return MISSING


def in_order(classes: Any, name: str) -> Any:
    """Return the attribute of the first class that defines the name, or MISSING."""
    for base in classes:
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


def is_of_arrays(found: Any) -> bool:
    """Return whether a descriptor reads what arrays have themselves, such as their shape."""
    return type(found) is GetSetDescriptorType and found.__objclass__ is ndarray


def in_python(cls: type, name: str) -> Any:
    """Return a method of a class if it is written in Python, else None."""
    method = in_class(cls, name)
    return method if type(method) is FunctionType else None


def referent(proxy: Any) -> Any:
    """Return the object that a weak proxy stands for."""
    return proxy.__repr__.__self__


def mapping_of(proxy: Any) -> Any:
    """Return the mapping that a ``types.MappingProxyType`` shows."""
    return gc.get_referents(proxy)[0]


# Reading.


def instance_reader(t: type, name: str) -> Reader | None:
    """Return how to read ``o.name`` of instances of `t`."""
    if t in PROXIES:
        return lambda ctx, o: ctx.getattr(referent(o), name)
    return with_methods(t, name, own_reader(t, name))


def own_reader(t: type, name: str) -> Reader | None:
    """Return a reader that does the same as ``object.__getattribute__``."""
    found: Any = in_class(t, name)
    kind = type(found)
    if is_of_arrays(found):
        return lambda ctx, o: ctx.array_attribute(o, name)
    if kind is GetSetDescriptorType and found in frames.VIEWS:
        return lambda ctx, o: frames.VIEWS[found](o)
    getter = in_python(kind, "__get__")
    if isinstance(found, property) and getter is None:
        return None if found.fget is None else lambda ctx, o: ctx.call(found.fget, o)
    class_getter = class_property(found)
    if class_getter is not None:
        return lambda ctx, o: ctx.call(class_getter, t)
    if found is MISSING and issubclass(t, ModuleType):
        native = ModuleType.__getattribute__
        return lambda ctx, o: ctx.module_attribute(o, name, native)
    if getter is None:
        is_in_memory = issubclass(t, buffers.CDATA) and hasattr(kind, "__set__")
        if not is_in_memory:
            return None
        return lambda ctx, o: buffers.read_attribute(cast("Any", ctx), o, name)
    if getter is functools.cached_property.__get__:
        return lambda ctx, o: ctx.read_cached(found, o)
    if kind is enum.property and module_of(found.fget) == enum.__name__:
        return None  # the name or the value of a member, which it keeps itself
    if in_class(kind, "__set__") is MISSING and in_class(kind, "__delete__") is MISSING:
        return lambda ctx, o: (
            o.__dict__[name] if name in (instance_dict(o) or ()) else ctx.call(getter, found, o, t)
        )
    return lambda ctx, o: ctx.call(getter, found, o, t)


def class_reader(cls: type, meta: type, name: str) -> Reader | None:
    """Return how to read ``cls.name``, where `meta` is the class of the class."""
    read = own_class_reader(cls, meta, name)
    if meta is type:
        return read
    above, own = in_class(meta, name), in_class(cls, name)
    is_own = own is not MISSING and not (above is not MISSING and overrides(above))
    if read is None and is_own and not hasattr(type(own), "__get__"):
        meta_reads = in_python(meta, "__getattribute__")
        return None if meta_reads is None else with_methods(meta, name, None)
    return with_methods(meta, name, read)


def own_class_reader(cls: type, meta: type, name: str) -> Reader | None:
    """Return a reader that does the same as ``type.__getattribute__``."""
    above = MISSING if meta is type else in_class(meta, name)
    own = in_class(cls, name)
    found: Any = own if above is MISSING or (own is not MISSING and not overrides(above)) else above
    read: Reader | None = None
    if found is above and above is not MISSING:
        read = own_reader(meta, name)
    else:
        getter = in_python(type(found), "__get__")
        if getter is not None and not isinstance(found, functools.cached_property):
            read = lambda ctx, o: ctx.call(getter, found, None, o)  # noqa: E731
        elif class_property(found) is not None:
            read = lambda ctx, o: ctx.call(class_property(found), o)  # noqa: E731
    return read


def class_property(found: Any) -> Any:
    """Return the getter of ``@classmethod`` upon ``@property``, which Python 3.11 and 3.12 have."""
    function = found.__func__ if isinstance(found, classmethod) else None
    return function.fget if isinstance(function, property) else None


def overrides(found: Any) -> bool:
    """Return whether a descriptor of a class comes before what the instance holds."""
    kind = type(found)
    return in_class(kind, "__set__") is not MISSING or in_class(kind, "__delete__") is not MISSING


def with_methods(t: type, name: str, read: Reader | None) -> Reader | None:
    """Return a reader that heeds ``__getattribute__`` and ``__getattr__`` of the class."""
    custom = in_python(t, "__getattribute__")
    fallback = fallback_of(t)
    if custom is not None:
        read = lambda ctx, o: ctx.call(custom, o, name)  # noqa: E731
    if fallback is None:
        return read
    native: Any = t.__getattribute__

    def read_or_fall_back(ctx: Calling, o: Any) -> Any:
        try:
            return native(o, name) if read is None else read(ctx, o)
        except AttributeError:
            pass  # as in Python, it is not the context of what is raised now
        return ctx.call(fallback, o, name)

    return read_or_fall_back


def fallback_of(t: type) -> Any:
    """Return the ``__getattr__`` of a class: a function, or a method in C of another name."""
    found = in_class(t, "__getattr__")
    if type(found) in COMPILED and found.__name__ != "__getattr__":
        return found
    return found if type(found) is FunctionType else None


def super_reader(o: Any, name: str) -> Reader | None:
    """Return how to read ``super().name``."""
    receiver, start = o.__self__, o.__self_class__
    if receiver is None or name == "__class__":
        return None
    mro = start.__mro__
    found = in_order(mro[mro.index(o.__thisclass__) + 1 :], name)
    bound = None if receiver is start else receiver
    getter = in_python(type(found), "__get__")
    if is_of_arrays(found) and bound is not None:
        return lambda ctx, _: ctx.array_attribute(bound, name)
    if isinstance(found, property) and getter is None and bound is not None:
        return None if found.fget is None else lambda ctx, _: ctx.call(found.fget, bound)
    if getter is None:
        return None
    if isinstance(found, functools.cached_property):
        return None if bound is None else lambda ctx, _: ctx.read_cached(found, bound)
    return lambda ctx, _: ctx.call(getter, found, bound, start)


# Writing and deleting, past ``__setattr__`` and ``__delattr__``.


ACCESSORS = {"__get__": "fget", "__set__": "fset", "__delete__": "fdel"}


def changer(t: type, name: str, method: str) -> Callable[..., Any] | None:
    """Return the code ``(context, object, *value)`` that a change runs, None for Python's own.

    The method is ``__set__`` or ``__delete__``.
    """
    if t in PROXIES:
        if method == "__set__":
            return lambda ctx, o, v: ctx.setattr(referent(o), name, v)
        return lambda ctx, o: ctx.delattr(referent(o), name)
    found: Any = in_class(t, name)
    if is_of_arrays(found) and method == "__set__":
        return lambda ctx, o, v: ctx.set_array_attribute(o, name, v)
    code = in_python(type(found), method)
    if code is not None:
        return lambda ctx, o, *value: ctx.call(code, found, o, *value)
    accessor = getattr(found, ACCESSORS[method]) if isinstance(found, property) else None
    return None if accessor is None else lambda ctx, o, *value: ctx.call(accessor, o, *value)


PLAIN_READS = tuple([t.__getattribute__ for t in (object, tuple, SimpleNamespace)])
PLAIN_WRITES = object.__setattr__, SimpleNamespace.__setattr__


def is_one_of(value: Any, known: tuple[Any, ...]) -> bool:
    """Return True for the very object."""
    return any(value is one for one in known)


def is_kept_by_instances(t: type, name: str) -> bool:
    """Return whether no one but the instance, in its dict or a slot, takes part in an attribute."""
    found = in_class(t, name)
    return (
        (found is MISSING or type(found) is MemberDescriptorType)
        and is_one_of(t.__setattr__, PLAIN_WRITES)
        and is_one_of(t.__getattribute__, PLAIN_READS)
        and in_class(t, "__getattr__") is MISSING
    )
