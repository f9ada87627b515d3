"""Lookups of objects in their classes: methods, properties, ``super()``; calls that ask classes.

step = self.step        a partial of the function in the class, and self
super().step()          the same, of the function in a class after this one
C.of(x)                 a partial of the function, and C, if it is a class method
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from enum import Enum
from types import FunctionType, MemberDescriptorType
from typing import Any

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import HEAP
from mooncake_py.compiler.native.building.values import (
    Dictionary,
    Known,
    Number,
    Object,
    Partial,
    Super,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import class_attributes, own_operators, records
from mooncake_py.compiler.native.reading.scope import constant
from mooncake_py.compiler.native.reading.statements import StatementReader
from mooncake_py.compiler.regions.ir import Const
from mooncake_py.jitted import is_jitted
from mooncake_py.overriding import override
from mooncake_py.runtime.attribute_lookup import MISSING, in_class, overrides

__all__ = ["ClassReader", "owner_of"]

CACHED: Any = type(functools.lru_cache(abs))
NO_INIT: Any = object.__init__


class ClassReader(StatementReader):
    """Reads what classes hold."""

    # Look-up.

    def of_instance(self, o: Value, cls: type, name: str, found: Any) -> Value:
        """Return an instance's attribute, given the value that its class holds under the name."""
        t = type(found)
        if t is FunctionType or is_jitted(found) or found is NO_INIT:
            return Partial(Known(found), (o,))
        if t is property and found.fget is not None:
            getter = Known(found.fget)
            return self.contained(lambda: self.applied(getter, [o], {}, self.call_here()))
        if t is functools.cached_property:
            raise Unfit(
                f"{name}, a cached_property, which keeps its result: use a property",
                self.b.place,
            )
        if t is MemberDescriptorType:
            raise Unfit(f"the attribute {name}, which may not be bound here", self.b.place)
        return self.of_class_itself(cls, name, found)

    def of_class_itself(self, cls: type, name: str, found: Any) -> Value:
        """Return a class's attribute, given the value that it holds under the name."""
        bound = class_attributes.read(self, cls, name)  # type: ignore[arg-type]
        if bound is not None:
            return bound
        t = type(found)
        if t is staticmethod:
            return Known(found.__func__)
        if t is classmethod:
            return Partial(Known(found.__func__), (Known(cls),))
        if t is FunctionType or is_jitted(found):
            return Known(found)
        if found is MISSING or in_class(t, "__get__") is not MISSING:
            raise Unfit(f"the attribute {name} of the class {cls.__name__}", self.b.place)
        return constant(found) or self.captured(self.scope, name, found, owner_of(cls, name))

    @override
    def attribute_by_class(self, base: Value, name: str) -> Value | None:
        match base:
            case Deque(maxlen=maxlen) if name == "maxlen":
                return Known(None) if maxlen is None else Number(Const(maxlen), "int")
            case Tuple(cls=cls) if cls is not None:
                return records.attribute_of_named(self, base, name)  # type: ignore[arg-type]
            case Known(value=member) if issubclass(type(member), Enum):
                return records.attribute_of_member(self, member, name)  # type: ignore[arg-type]
            case Super():
                return self.attribute_of_super(base, name)
            case Known(value=cls) if issubclass(type(cls), type) and cls.__flags__ & HEAP:
                return self.class_attribute(cls, name)
        return None

    def class_attribute(self, cls: type, name: str) -> Value:
        """Read an attribute of a class of the program's."""
        above = in_class(type(cls), name)
        if above is not MISSING and overrides(above):
            raise Unfit(f"the attribute {name} of a class", self.b.place)
        if name.startswith("__") and type(in_class(cls, name)) is not FunctionType:
            raise Unfit(f"the attribute {name} of a class", self.b.place)
        if issubclass(cls, Enum):
            # Which members there are does not change; a map that is held would keep the class.
            members = in_class(cls, "_member_map_")
            if name in members:
                return Known(members[name])
        return self.of_class_itself(cls, name, self.scope.of_class(cls, name))

    @override
    def special_method(self, o: Value, name: str) -> Value | None:
        cls = self.class_of(o)
        found = self.scope.of_class(cls, name)
        if found is MISSING or found is None:
            return None
        if any(found is vars(base).get(name) for base in (object, tuple)):
            return None
        if type(found) is not FunctionType:
            raise Unfit(
                f"{name} of the class {cls.__name__}, of type {type(found).__name__}: "
                "define it with `def`",
                self.b.place,
            )
        return Partial(Known(found), (o,))

    def class_of(self, value: Value) -> type:
        """Return the class of a value that has one of the program's."""
        if isinstance(value, Object):
            return value.cls
        if isinstance(value, Tuple) and value.cls is not None:
            return value.cls
        raise Unfit(f"the class of {said(value)}", self.b.place)

    def attribute_of_super(self, base: Super, name: str) -> Value:
        """Read ``super().name``."""
        o = base.value
        cls = o.value if isinstance(o, Known) else self.class_of(o)
        mro = cls.__mro__
        for c in mro[mro.index(base.after) + 1 :]:
            found = self.scope.of_class(c, name)  # asked of each, as one may get the name
            class_attributes.require_none(self, c, name)  # type: ignore[arg-type]
            if name in c.__dict__:
                if isinstance(o, Known) and type(found) is not classmethod:
                    return self.of_class_itself(cls, name, found)
                return self.of_instance(o, cls, name, found)
        raise Unfit(f"super().{name}, which no class has", self.b.place)

    # Calls.

    @override
    def class_call(self, f: Any, args: Sequence[Value], given: dict[str, Value]) -> Value | None:
        if type(f) is CACHED:
            raise Unfit(
                f"{f.__name__}, under functools.lru_cache or cache, which keeps its results: "
                "call the function without it",
                self.b.place,
            )
        if f is super and not given:
            return self.super_of(args)
        if len(args) == 1 and isinstance(args[0], Object) and f in own_operators.BUILTINS:
            return own_operators.read_builtin(self, f, args)
        items = args[0].items if f is sum and args and isinstance(args[0], Tuple) else ()
        if own_operators.decide(*items):
            return own_operators.added_up(self, items, [*args[1:], *given.values()])
        if f is dataclasses.replace:
            return records.changed(self, args, given)  # type: ignore[arg-type]
        if isinstance(f, str) and f in records.METHODS.values():
            return records.method_of_named(self, f, args, given)  # type: ignore[arg-type]
        if f is NO_INIT and len(args) == 1 and not given:
            return Known(None)
        if f is functools.partial and args:
            return Partial(args[0], tuple(args[1:]), Dictionary(tuple(given), (*given.values(),)))
        if f is functools.wraps and len(args) == 1:
            return Partial(
                Known(functools.update_wrapper), (), Dictionary(("wrapped",), (args[0],))
            )
        if f is functools.update_wrapper and args:
            return args[0]
        if type(f) is functools.partial:
            return self.applied(self.known_partial(f), args, given, self.call_here())
        return None

    def known_partial(self, f: Any) -> Partial:
        """Return a partial that is the same in each call."""
        parts = [constant(v) for v in (f.func, *f.args, *f.keywords.values())]
        if None in parts:
            raise Unfit("a partial of an array: pass the array", self.b.place)
        function, *values = [part for part in parts if part is not None]
        count = len(f.args)
        given = Dictionary(tuple(f.keywords), tuple(values[count:]))
        return Partial(function, tuple(values[:count]), given)

    def super_of(self, args: Sequence[Value]) -> Value:
        """Read ``super()`` or ``super(C, self)``."""
        if not args:
            code = self.scope.function.__code__
            first = self.scope.env.get(code.co_varnames[0]) if code.co_argcount else None
            args = [self.variable("__class__"), *([] if first is None else [first])]
        match args:
            case [Known(value=after), Object(cls=cls) as o] if is_above(after, cls):
                return Super(after, o)
            case [Known(value=after), Known(value=cls)] if is_above(after, cls):
                return Super(after, args[1])
        raise Unfit("super() of something other than an object and its class", self.b.place)


def is_above(base: Any, cls: Any) -> bool:
    """Return True for a class and what derives from it."""
    return issubclass(type(cls), type) and any(base is one for one in cls.__mro__)


def owner_of(cls: type, name: str) -> type:
    """Return the class that holds what a class or its bases have under a name."""
    return next(base for base in cls.__mro__ if name in base.__dict__)
