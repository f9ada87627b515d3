"""Attributes: properties, descriptors and special methods written in Python run derived."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType, GetSetDescriptorType, ModuleType
from typing import Any

from numpy import ndarray

from mooncake_py.derive import array_protocols, frames, iteration, state
from mooncake_py.derive.active import Active
from mooncake_py.derive.core import Core
from mooncake_py.errors import DerivativeDropError

__all__ = ["Attributes"]

_MISSING = object()

EXPOSES_MEMORY = frozenset({"data", "ctypes", "__array_interface__", "__array_struct__"})


class Attributes(Core):
    """Reading, writing and deleting attributes of anything.

    Attributes
    ----------
    namespaces : dict
        Class to what it and its bases hold, in the order of lookup.
    """

    def __init__(self) -> None:
        super().__init__()
        self.namespaces: dict[type, tuple[Mapping[str, Any], ...]] = {}

    def getattr(self, o: Any, name: str) -> Any:
        """Run ``o.name``."""
        t = type(o)
        if t is ndarray:
            if name in EXPOSES_MEMORY and (name == "ctypes" or self.find(o) is not None):
                raise self.failed(
                    DerivativeDropError(
                        f"the attribute {name!r} of an array gives access to its memory",
                        where=self.user_location(),
                        why="reads and writes through it cannot be seen",
                        mend="use indexing, or register a rule for the function that needs it",
                    )
                )
            return getattr(o, name)
        if t is Active:
            return getattr(o, name)
        if t is ModuleType:
            return self.module_attribute(o, name)
        if isinstance(o, type):
            return self.class_attribute(o, t, name)
        attribute: Any = self.static(t, name)
        kind = type(attribute)
        if kind is property:
            if attribute.fget is None:
                return getattr(o, name)
            return self.call(attribute.fget, o)
        if kind is FunctionType or attribute is _MISSING:
            return self.plain_attribute(o, t, name)
        if kind is GetSetDescriptorType and attribute in frames.VIEWS:
            return frames.VIEWS[attribute](o)
        getter = getattr(kind, "__get__", None)
        if type(getter) is FunctionType:
            if name in getattr(o, "__dict__", ()) and not hasattr(kind, "__set__"):
                return getattr(o, name)
            return self.call_descriptor(attribute, getter, o, t)
        return self.plain_attribute(o, t, name)

    def static(self, t: type, name: str) -> Any:
        """Return what a class holds under a name, without running a descriptor's code."""
        spaces = self.namespaces.get(t)
        if spaces is None:
            spaces = self.namespaces[t] = tuple(base.__dict__ for base in t.__mro__)
        for space in spaces:
            if name in space:
                return space[name]
        return _MISSING

    def module_attribute(self, o: ModuleType, name: str) -> Any:
        """Read an attribute of a module, whose ``__getattr__`` may be written in Python."""
        fallback = o.__dict__.get("__getattr__")
        known = name in o.__dict__ or hasattr(ModuleType, name)
        if type(fallback) is FunctionType and not known:
            return self.call(fallback, name)
        return getattr(o, name)

    def class_attribute(self, o: type, meta: type, name: str) -> Any:
        """Read an attribute of a class: of its metaclass, its own, or through a descriptor."""
        above = self.static(meta, name)
        if type(above) is property and above.fget is not None:
            return self.call(above.fget, o)
        attribute = self.static(o, name)
        getter = getattr(type(attribute), "__get__", None)
        if type(getter) is FunctionType:
            return self.call(getter, attribute, None, o)
        fallback = getattr(meta, "__getattr__", None)
        if attribute is _MISSING and above is _MISSING and type(fallback) is FunctionType:
            return self.call(fallback, o, name)
        return getattr(o, name)

    def call_descriptor(self, attribute: Any, getter: Any, o: Any, t: type) -> Any:
        """Read an attribute through a descriptor written in Python."""
        if type(attribute).__name__ == "cached_property":
            value = self.call(attribute.func, o)
            state.set_attribute(self, o, attribute.attrname, value)
            return value
        return self.call(getter, attribute, o, t)

    def plain_attribute(self, o: Any, t: type, name: str) -> Any:
        """Read an attribute, through ``__getattribute__`` or ``__getattr__`` if there is one."""
        if t.__getattribute__ is not object.__getattribute__:
            custom = t.__getattribute__
            if type(custom) is FunctionType:
                return self.call(custom, o, name)
            return getattr(o, name)
        fallback = getattr(t, "__getattr__", None)
        if type(fallback) is FunctionType:
            try:
                return object.__getattribute__(o, name)
            except AttributeError:
                return self.call(fallback, o, name)
        return getattr(o, name)

    def setattr(self, o: Any, name: str, v: Any) -> None:
        """Run ``o.name = v``."""
        t = type(o)
        if t is ndarray:
            self.set_array_attribute(o, name, v)
            return
        array_protocols.watch(self, t)
        attribute = self.static(t, name)
        if type(attribute) is property and attribute.fset is not None:
            self.call(attribute.fset, o, v)
            return
        setter = getattr(type(attribute), "__set__", None)
        if type(setter) is FunctionType:
            self.call(setter, attribute, o, v)
            return
        custom = t.__setattr__
        if type(custom) is FunctionType and custom.__code__.co_filename != "<string>":
            self.call(custom, o, name, v)
            return
        state.set_attribute(self, o, name, v)

    def set_array_attribute(self, o: ndarray, name: str, v: Any) -> None:
        """Run ``array.real = v`` and the like."""
        if name in ("real", "imag"):
            self.setitem(getattr(o, name), Ellipsis, v)
        elif name == "flat":
            iteration.assign_flat(self, o, slice(None), v)
        else:
            refuse_metadata_write(self, name)

    def delattr(self, o: Any, name: str) -> None:
        """Run ``del o.name``."""
        t = type(o)
        attribute = self.static(t, name)
        if type(attribute) is property and attribute.fdel is not None:
            self.call(attribute.fdel, o)
            return
        deleter = getattr(type(attribute), "__delete__", None)
        if type(deleter) is FunctionType:
            self.call(deleter, attribute, o)
            return
        custom = t.__delattr__
        if type(custom) is FunctionType and custom.__code__.co_filename != "<string>":
            self.call(custom, o, name)
            return
        state.delete_attribute(self, o, name)

    def augattr(self, name: str, o: Any, attribute: str, v: Any) -> None:
        """Run ``o.attribute op= v``, where `v` has no side effects."""
        old = self.getattr(o, attribute)
        new = getattr(self, name)(old, v)
        if type(o) is ndarray and new is old and attribute in ("real", "imag", "flat", "T"):
            return
        self.setattr(o, attribute, new)


def refuse_metadata_write(ctx: Core, name: str) -> None:
    """Refuse ``array.shape = ...`` and the like."""
    raise ctx.failed(
        DerivativeDropError(
            f"setting the attribute {name!r} of an array is not supported",
            where=ctx.user_location(),
            why="it changes the layout of memory that the reverse pass refers to",
            mend="use reshape, view or astype, which return a new array",
        )
    )
