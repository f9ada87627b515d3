"""Attributes: properties, descriptors and special methods written in Python run derived."""

from __future__ import annotations

import operator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers import hooks, state
from mooncake_py.language import (
    array_attributes,
    array_protocols,
    array_subclasses,
    registries,
    special,
)
from mooncake_py.language.core import Core
from mooncake_py.runtime import attribute_lookup
from mooncake_py.runtime.active import Active, innermost, part_of_real
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.generated import has_no_source, is_of_tuple
from mooncake_py.runtime.methods import python_method

__all__ = ["Attributes"]

INTS = frozenset({int, np.int64})


OF_NODES = frozenset({"add", "add_shared", "keep", "protect", "take"})
OF_NUMBERS = OF_NODES | special.OPERATIONS.keys()
"""Methods that active numbers have for the engine: the numbers have none, or others."""
COUNTS = frozenset({"ndim", "size"})  # of an array, which are ints


class Attributes(Core):
    """Reading, writing and deleting attributes of anything."""

    def __init__(self) -> None:
        super().__init__()
        # By class and name the code in Python that runs, None where there is none; they hold
        # until an attribute of a class is changed.
        self.readers: dict[Any, Any] = {}
        self.writers: dict[Any, Any] = {}
        self.flags: array_attributes.Flags = {}

    def getattr(self, o: Any, name: str) -> Any:
        """Run ``o.name``."""
        t = type(o)
        if t is ndarray:
            if name in array_attributes.GUARDED:
                return array_attributes.read_guarded(self, o, name)
            return getattr(o, name)
        if t is Active:
            getattr(unwrapped(o), name)  # raises where the number has none, but `Active` has
            own = hasattr(Active, name) and name not in OF_NUMBERS
            return getattr(o, name) if own else self.scalar_attribute(o, name)
        if t is ModuleType:
            return self.module_attribute(o, name)
        try:
            read = self.readers[t, name]
        except KeyError:
            read = self.reader(o, name)
        return getattr(o, name) if read is None else read(self, o)

    def reader(self, o: Any, name: str) -> attribute_lookup.Reader | None:
        """Return a reader of ``o.name``, None if no code of the user's runs."""
        t = type(o)
        if issubclass(t, type):
            registries.refuse_originals(self, o, name)
            known = self.readers.get((id(o), name))
            if known is None:
                hooks.refuse_metaclass(self, o)
                known = attribute_lookup.class_reader(o, t, name), o  # whose id is the key
                self.readers[id(o), name] = known
            return known[0]
        hooks.refuse_metaclass(self, t)
        registries.refuse_originals(self, t, name)
        if t is super:
            return attribute_lookup.super_reader(o, name)
        read = self.readers[t, name] = attribute_lookup.instance_reader(t, name)
        return read

    def peek(self, o: Any, name: str) -> Any:
        """Return ``o.name`` if it was read before and runs no code; else what fits no quick form.

        For statements that are only tried: reading must have no effect.
        """
        if type(o) is ndarray:
            return getattr(o, name) if name in COUNTS and self.peeks else Ellipsis
        if type(o) is Active:
            return part_of_real(o, name) if self.peeks else Ellipsis
        if self.peeks and self.readers.get((type(o), name), MISSING) is None:
            return getattr(o, name, Ellipsis)
        return Ellipsis

    def peek_operator(self, name: str, *operands: Any) -> Any:
        """Return the result of an operator on ints; else what fits no quick form: see `peek`."""
        if all(type(v) in INTS for v in operands):
            try:
                return getattr(operator, name)(*operands)
            except (ArithmeticError, ValueError):
                pass  # it is raised where the statement runs
        return NotImplemented

    def module_attribute(self, o: Any, name: str, native: Any = None) -> Any:
        """Read an attribute of a module, whose ``__getattr__`` may be written in Python."""
        fallback = o.__dict__.get("__getattr__")
        known = name in o.__dict__ or hasattr(ModuleType, name)
        if fallback is not None and not known:
            return self.call(fallback, name)
        return getattr(o, name) if native is None else native(o, name)

    def own_attribute(self, native: Any, o: Any, name: str) -> Any:
        """Run ``object.__getattribute__(o, name)`` and similar."""
        t = type(o)
        read = attribute_lookup.own_reader(t, name)
        if (
            native is object.__getattribute__  # which asks no ``__getattr__``
            and issubclass(t, ModuleType)
            and attribute_lookup.in_class(t, name) is MISSING
        ):
            read = None
        if issubclass(t, type) and native is type.__getattribute__:
            read = attribute_lookup.own_class_reader(o, t, name)
        return native(o, name) if read is None else read(self, o)

    def array_attribute(self, o: Any, name: str) -> Any:
        """Read an attribute that arrays have, of an array of any class."""
        return array_subclasses.attribute(self, o, name)

    def set_array_attribute(self, o: Any, name: str, v: Any) -> None:
        """Write an attribute that arrays have, of an array of any class."""
        array_attributes.set_array_attribute(self, o, name, v)

    def read_cached(self, descriptor: Any, o: Any) -> Any:
        """Read a ``functools.cached_property``."""
        held, name = o.__dict__, descriptor.attrname
        value = held.get(name, MISSING)
        if value is MISSING:
            value = self.call(descriptor.func, o)
            self.setitem(held, name, value)
        return value

    def setattr(self, o: Any, name: str, v: Any) -> None:
        """Run ``o.name = v``."""
        t = type(o)
        if t is ndarray:
            array_attributes.set_array_attribute(self, o, name, v)
            return
        if t is array_attributes.FLAGS and array_attributes.set_flag(self, o, name, v):
            return
        if t is Active:
            setattr(innermost(o), name, v)  # raises
        array_protocols.watch(self, t)
        custom = None if t.__setattr__ is object.__setattr__ else overriding(t, "__setattr__")
        if custom is None:
            self.set_own_attribute(setattr, o, name, v)
        else:
            self.call(custom, o, name, v)

    def set_own_attribute(self, native: Any, o: Any, name: str, v: Any) -> None:
        """Run ``object.__setattr__(o, name, v)`` and similar."""
        t = type(o)
        try:
            write = self.writers[t, name]
        except KeyError:
            write = self.writers[t, name] = attribute_lookup.changer(t, name, "__set__")
        if write is not None:
            write(self, o, v)
            return
        if name == "__dict__":  # of another object, perhaps: no longer of one that is being made
            self.registry.again += 1
        state.set_attribute(self, native, o, name, v)
        if issubclass(type(o), type):
            self.forget_lookups()

    def forget_lookups(self) -> None:
        """Look attributes up again, as those of a class have changed, and when that is undone."""
        state.CHANGERS_OF_CLASSES.add(self)
        self.gate = None
        self.readers.clear()
        self.writers.clear()

    def delattr(self, o: Any, name: str) -> None:
        """Run ``del o.name``."""
        if type(o) is Active:
            delattr(innermost(o), name)  # raises
        custom = overriding(type(o), "__delattr__")
        if custom is None:
            self.delete_own_attribute(delattr, o, name)
        else:
            self.call(custom, o, name)

    def delete_own_attribute(self, native: Any, o: Any, name: str) -> None:
        """Run ``object.__delattr__(o, name)`` and similar."""
        delete = attribute_lookup.changer(type(o), name, "__delete__")
        if delete is not None:
            delete(self, o)
            return
        state.delete_attribute(self, native, o, name)
        if issubclass(type(o), type):
            self.forget_lookups()

    def augattr(self, name: str, o: Any, attribute: str, v: Any) -> None:
        """Run ``o.attribute op= v``, where `v` has no side effects."""
        old = self.getattr(o, attribute)
        new = getattr(self, name)(old, v)
        if type(o) is ndarray and new is old and attribute in ("real", "imag", "flat", "T"):
            return
        self.setattr(o, attribute, new)


def overriding(t: type, name: str) -> Any:
    """Return the special method of a class that the engine must differentiate, or None."""
    method = python_method(t, name)
    is_generated = type(method) is FunctionType and has_no_source(method)
    return None if is_generated and not is_of_tuple(method) else method
