"""Classes that Python writes: dataclasses and named tuples, and members of enumerations.

Lease("bank", 240.0)        an object with these attributes, and defaults for the others
replace(lease, rent=x)      another one, with this attribute
Group(x, y)                 a tuple of a class; g.x is its first item
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Dictionary,
    Known,
    Object,
    Partial,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import comparisons
from mooncake_py.compiler.native.reading.parameters import Parameters
from mooncake_py.compiler.native.reading.scope import constant
from mooncake_py.compiler.regions.ir import Expr

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.objects import ObjectReader

__all__ = [
    "are_equal", "attribute_of_member", "attribute_of_named", "changed", "filled", "is_frozen",
    "is_generated", "is_named_tuple", "method_of_named", "named",
]  # fmt: skip

GETTER: Any = type(vars(collections.namedtuple("_", "x"))["x"])
GENERATED = "<string>"  # the file of functions that dataclasses and named tuples write
MISSING = dataclasses.MISSING


def is_generated(f: Any) -> bool:
    """Return True for a function that `dataclasses` or `collections.namedtuple` has written."""
    return type(f) is FunctionType and f.__code__.co_filename == GENERATED


# Dataclasses.


def is_frozen(cls: type) -> bool:
    """Return True for a dataclass whose own `__setattr__` refuses all."""
    params = getattr(cls, "__dataclass_params__", None)
    return params is not None and params.frozen and in_module(cls.__setattr__)


def in_module(f: Any) -> bool:
    """Return True for a function that is written by `dataclasses`, in any release of Python."""
    return is_generated(f) or getattr(f, "__module__", None) == dataclasses.__name__


def fields_in(r: ObjectReader, cls: type, method: str) -> dict[str, Any]:
    """Return the fields of a dataclass that wrote a method, with those for `__post_init__`."""
    r.scope.of_class(cls, method)
    owner = next((vars(base) for base in cls.__mro__ if method in vars(base)), {})
    fields = owner.get("__dataclass_fields__")
    if type(fields) is not dict or r.scope.of_class(cls, "__dataclass_fields__") is not fields:
        raise Unfit(f"{method} of the class {cls.__name__}, which is not a dataclass", r.b.place)
    return {name: f for name, f in fields.items() if f._field_type.name != "_FIELD_CLASSVAR"}


def filled(r: ObjectReader, o: Object, args: Sequence[Value], given: dict[str, Value]) -> None:
    """Bind the attributes of a new instance of a dataclass, as its `__init__` does."""
    fields = fields_in(r, o.cls, "__init__")
    taken = {name: f for name, f in fields.items() if f.init}
    by_name = tuple([name for name, f in taken.items() if f.kw_only])
    positional = tuple([name for name in taken if name not in by_name])
    parameters = Parameters(positional, 0, by_name, "", "", (*positional, *by_name))
    try:
        found = parameters.bound(args, given)
    except Unfit as error:
        raise Unfit(error.why, r.b.place) from None
    initial: list[Value] = []
    for name, f in fields.items():
        value = found[name] if name in found else default_of(r, f)
        if f._field_type.name == "_FIELD_INITVAR":
            if value is None:
                raise Unfit("a call with too few arguments", r.b.place)
            initial.append(value)
        elif value is not None:
            r.bind_at_first(o, name, value)
        elif f.init:
            raise Unfit("a call with too few arguments", r.b.place)
    r.special_call(o, "__post_init__", initial)


def default_of(r: ObjectReader, f: Any) -> Value | None:
    """Return the default of a field, None if it has none."""
    if f.default is not MISSING:
        value = constant(f.default)
        if value is None:
            raise Unfit(f"the default of {f.name}, which may change: use a factory", r.b.place)
        return value
    if f.default_factory is MISSING:
        return None
    if f.default_factory is list:
        return r.list_made(Tuple((), is_list=True), r.b.place)
    if f.default_factory is dict:
        return r.list_made(Dictionary((), ()), r.b.place)
    return r.applied(Known(f.default_factory), [], {}, r.call_here())


def changed(r: ObjectReader, args: Sequence[Value], given: dict[str, Value]) -> Value:
    """Read ``dataclasses.replace(o, ...)``."""
    o = args[0] if len(args) == 1 else None
    if not isinstance(o, Object):
        raise Unfit(f"`replace` of {said(*args)}: use an instance of a dataclass", r.b.place)
    fields = fields_in(r, o.cls, "__init__")
    if any(f._field_type.name != "_FIELD" for f in fields.values()):
        raise Unfit("`replace` of a dataclass with variables of `__post_init__`", r.b.place)
    taken = [name for name, f in fields.items() if f.init]
    if not given.keys() <= set(taken):
        raise Unfit("a call with arguments that do not fit", r.b.place)
    values = {n: given[n] if n in given else r.attribute(o, n) for n in taken}
    return r.constructed(o.cls, [], values)


def are_equal(r: Any, x: Object, y: Object) -> Expr:
    """Return whether two instances of one dataclass are equal: its fields are."""
    fields = [name for name, f in fields_in(r, x.cls, "__eq__").items() if f.compare]
    pair = [Tuple(tuple([r.attribute(o, name) for name in fields])) for o in (x, y)]
    return comparisons.are_equal(r, *pair)


# Named tuples.


def is_named_tuple(cls: type) -> bool:
    """Return True for a class that is made by `NamedTuple` or `namedtuple`, or derived from one."""
    return (
        issubclass(cls, tuple)
        and type(getattr(cls, "_fields", None)) is tuple
        and is_generated(cls.__new__)
        and cls.__init__ is object.__init__
    )


def named(r: ObjectReader, cls: type, args: Sequence[Value], given: dict[str, Value]) -> Value:
    """Read a call of the class of a named tuple."""
    r.scope.of_class(cls, "__new__")
    r.scope.of_class(cls, "__init__")
    names = r.scope.of_class(cls, "_fields")
    defaults = r.scope.of_class(cls, "_field_defaults")
    try:
        found = Parameters(names, 0, (), "", "", names).bound(args, given)
    except Unfit as error:
        raise Unfit(error.why, r.b.place) from None
    for name in names:
        if name not in found:
            value = constant(defaults[name]) if name in defaults else None
            if value is None:
                raise Unfit("a call with too few arguments", r.b.place)
            found[name] = value
    return Tuple(tuple([found[name] for name in names]), cls=cls)


def attribute_of_named(r: ObjectReader, base: Tuple, name: str) -> Value:
    """Read a field, a property or a method of a named tuple."""
    cls: Any = base.cls
    found = r.scope.of_class(cls, name)
    if type(found) is GETTER and name in cls._fields:
        return base.items[cls._fields.index(name)]
    if name == "_fields":
        return Tuple(tuple(map(Known, cls._fields)))
    if name in METHODS and getattr(found, "__code__", None) in WRITTEN:
        return Partial(Known(METHODS[name]), (base,))
    return r.of_instance(base, cls, name, found)


def method_of_named(
    r: ObjectReader, f: Any, args: Sequence[Value], given: dict[str, Value]
) -> Value:
    """Read ``_replace`` or ``_asdict``."""
    base = args[0]
    if len(args) != 1 or not isinstance(base, Tuple) or base.cls is None:
        raise Unfit("a call with arguments that do not fit", r.b.place)
    names = base.cls._fields  # type: ignore[attr-defined]
    fields = dict(zip(names, base.items, strict=True))
    if not given.keys() <= fields.keys() or (f == METHODS["_asdict"] and given):
        raise Unfit("a call with arguments that do not fit", r.b.place)
    values = tuple((fields | given).values())
    if f == METHODS["_asdict"]:
        return Dictionary(names, values)
    return dataclasses.replace(base, items=values)


EXAMPLE: Any = collections.namedtuple("EXAMPLE", "x")
METHODS = {"_replace": "namedtuple._replace", "_asdict": "namedtuple._asdict"}
"""Stand-ins for methods that `collections.namedtuple` writes."""
WRITTEN = frozenset({vars(EXAMPLE)[name].__code__ for name in METHODS})


# Enumerations.


def attribute_of_member(r: ObjectReader, member: Enum, name: str) -> Value:
    """Read an attribute of a member of an enumeration."""
    if name in ("name", "value"):
        found = constant(member._name_ if name == "name" else member._value_)
        if found is None:
            raise Unfit(f"the value of {member}, which may change", r.b.place)
        return found
    cls = type(member)
    if name.startswith("_") or name in member.__dict__:
        raise Unfit(f"the attribute {name} of a member of {cls.__name__}", r.b.place)
    return r.of_instance(Known(member), cls, name, r.scope.of_class(cls, name))
