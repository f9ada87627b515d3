"""Attributes of plain instances that are passed: read on entry, and set on exit if assigned.

    self.t += dt            t' = t + dt         t is an input, and a result that is set in the end
    self.u[0] = self.t      u[0] = t'           u is an array that is an input

In the region an attribute that is assigned anywhere is a variable; the others are inputs as soon as
they are read.
"""

from __future__ import annotations

import abc
import weakref
from collections.abc import Sequence
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.looked import CONTAINERS
from mooncake_py.compiler.native.building.types import (
    HEAP,
    BoundType,
    ObjectType,
    Path,
    Type,
    UnservedType,
)
from mooncake_py.compiler.native.building.values import (
    Function,
    Known,
    Number,
    Object,
    Partial,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import class_attributes, records
from mooncake_py.compiler.native.reading.classes import ClassReader
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.overriding import override
from mooncake_py.runtime.attribute_lookup import (
    MISSING,
    PLAIN_READS,
    PLAIN_WRITES,
    is_one_of,
    overrides,
)

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["ObjectReader", "put_at"]

SPECIAL = (
    "__init__", "__new__", "__getattribute__", "__getattr__", "__setattr__", "__del__",
)  # fmt: skip


class ObjectReader(ClassReader):
    """Reads and binds attributes of objects.

    Attributes
    ----------
    initial : dict of str to Value
        Of the attributes that nothing assigns what they stand for.
    looked : dict of Path to dict of str
        The attributes of arguments that were asked for; what they hold otherwise does not matter.
    structures : dict of Path to Value
        The objects, lists and dicts that are passed, by where they were found first.
    passed_first : int
        How many arguments there are; the paths of what is captured begin with larger numbers.
    own_attributes : set of str
        Those that have been bound, in what the region calls them.
    of_classes : set of str
        Those that the object did not have, but maybe its class, when they were read in a loop.
    of_functions : dict of Function to dict of str to Value
        The attributes that functions within others have been given.
    """

    initial: dict[str, Value]
    looked: dict[Path, dict[str, None]]
    structures: dict[Path, Value]
    passed_first: int
    own_attributes: set[str]
    of_classes: set[str]
    asked: set[str]
    of_functions: dict[Function, dict[str, Value]]

    def bind_assigned(self) -> None:
        """Bind what is assigned somewhere in arguments: attributes, items of lists and dicts."""
        class_attributes.bind_first(self)
        for path in sorted(filter(None, self.findings.changed.values()), key=len):
            self.at(path)
        for path, slot in sorted(self.findings.assigned.values(), key=lambda pair: len(pair[0])):
            o = self.at(path)
            type_ = self.type_at(o, slot.name) if isinstance(o, Object) else None
            if type_ is not None and not isinstance(type_, UnservedType):
                found = self.assigned_input(slot, type_, (*path, slot.name))
                self.slots.bound(slot, found)

    def type_at(self, o: Object, name: str) -> Type | None:
        """Return the type of an attribute on entry, None if an instance has none of that name."""
        if o.path:
            self.looked.setdefault(o.path, {})[name] = None
        return dict(o.type.attributes).get(name)

    def assigned_input(self, slot: Slot, type_: Type, path: Path) -> Value:
        """Return the value on entry of an attribute that is assigned somewhere."""
        own = slot.own
        if own not in self.findings.varied | self.findings.widened:
            return self.argument(own, type_, False, path)
        value = self.argument(f"{own}.before", type_, True, path)
        return self.bind_number(slot, value) if isinstance(value, Number) else value

    @override
    def constructed(self, cls: type, args: Sequence[Value], given: dict[str, Value]) -> Value:
        if records.is_named_tuple(cls):
            return records.named(self, cls, args, given)
        special = {name: self.scope.of_class(cls, name) for name in SPECIAL}
        start, is_frozen = special["__init__"], records.is_frozen(cls)
        if (
            not is_plain_class(cls)
            or not (
                type(start) is FunctionType or (start is object.__init__ and not (args or given))
            )
            or special["__new__"] is not object.__new__
            or not is_one_of(cls.__getattribute__, PLAIN_READS)
            or not (is_one_of(cls.__setattr__, PLAIN_WRITES) or is_frozen)
            or special["__getattr__"] is not MISSING
            or special["__del__"] is not MISSING
        ):
            raise Unfit(f"the class {cls.__name__}", self.b.place)
        o = Object(self.name_made("o"), cls, ObjectType(weakref.ref(cls), not is_frozen, ()), ())
        self.made_here[o.name] = o
        self.bind_defaults(o)
        if records.is_generated(start):
            records.filled(self, o, args, given)
        elif start is not object.__init__:
            found = self.inlined(start, [o, *args], given)
            if not isinstance(found, Known) or found.value is not None:
                raise Unfit(
                    f"the class {cls.__name__}, whose __init__ returns something", self.b.place
                )
        return o

    def bind_at_first(self, o: Object, name: str, value: Value) -> None:
        """Bind an attribute of a new object, past its `__setattr__`."""
        slot = owned(o, name)
        self.own_attributes.add(slot.own)
        self.bind_own(slot, value)

    def bind_defaults(self, o: Object) -> None:
        """Bind attributes of a new object that the class has, and that are assigned somewhere.

        A branch or a loop may assign them, after which they are this or that.
        """
        for name in sorted([name for cls, name in self.findings.defaulted if cls is o.cls]):
            class_attributes.require_none(self, o.cls, name)
            found = self.scope.of_class(o.cls, name)
            self.bind_own(owned(o, name), self.of_instance(o, o.cls, name, found))

    @override
    def attribute_of(self, o: Object, name: str) -> Value:
        slot = owned(o, name)
        own = slot.own
        if name.startswith("__"):
            raise Unfit(f"the attribute {name}", self.b.place)
        findings = self.findings
        has_bound_default = not o.path and (o.cls, name) in findings.defaulted
        if own in findings.assigned or has_bound_default or slot in self.slots.values:
            return self.bound_attribute(slot)
        type_ = self.type_at(o, name)
        if type_ is not None:
            if isinstance(type_, UnservedType):
                raise Unfit(f"the attribute {name}, {type_.why}", self.b.place)
            return self.first(o, name)
        return self.of_instance(o, o.cls, name, self.of_class_alone(o, name))

    def passed_method(self, name: str, type_: BoundType, path: Path) -> Value:
        """Return a method that is passed with its object."""
        o = self.argument(f"{name}.self", type_.owner, True, (*path, "__self__"))
        return Partial(Known(type_.function.value), (o,))

    def first(self, o: Object, name: str) -> Value:
        """Return the value on entry of an attribute of an argument."""
        own = owned(o, name).own
        if own not in self.initial:
            type_ = self.type_at(o, name)
            assert type_ is not None
            self.initial[own] = self.argument(own, type_, True, (*o.path, name))
        return self.initial[own]

    def at(self, path: Path) -> Value:
        """Return the object, list or dict at a path, where it is met under another one."""
        if path not in self.structures:
            outer = self.at(path[:-1])
            if isinstance(outer, Object):  # items are there with what holds them
                self.first(outer, path[-1])
        return self.structures[path]

    def kept_at(self, path: Path, value: Value) -> Value:
        """Return the value at a path, for other paths that lead to it too."""
        return self.structures.setdefault(path, value)

    def of_class_alone(self, o: Object, name: str) -> Any:
        """Return a name's value in the class of an object that does not have the name itself.

        It must have nothing there in each pass of the loops that are being read.
        """
        own = owned(o, name).own
        self.asked.add(own)
        if own in self.own_attributes:
            raise Unfit(f"the attribute {name}, which may not be bound here", self.b.place)
        if self.b.loops:
            self.of_classes.add(own)
        return self.scope.of_class(o.cls, name)

    def has_attribute(self, o: Object, name: str) -> bool:
        """Return whether an object has an attribute."""
        slot = owned(o, name)
        if slot in self.slots.values and slot not in self.slots.maybe:
            return True
        if slot.own in self.findings.assigned:
            raise Unfit(f"the attribute {name}, which may not be bound here", self.b.place)
        if self.type_at(o, name) is not None:
            return True
        found = self.of_class_alone(o, name)
        return found is not MISSING and type(found) is not MemberDescriptorType

    def bound_attribute(self, slot: Slot) -> Value:
        """Read an attribute that is assigned somewhere."""
        if slot not in self.slots.values:
            raise Unfit(f"the attribute {slot.name}, which may not be bound here", self.b.place)
        return self.held(slot)

    @override
    def bind_attribute(self, o: Value, name: str, value: Value) -> None:
        if isinstance(o, Function) and self.is_straight and not self.b.loops:
            self.of_functions.setdefault(o, {})[name] = value  # which only solvers read
            return
        if isinstance(o, Known) and class_attributes.is_class(o):
            class_attributes.bind(self, o.value, name, value)
            return
        if not isinstance(o, Object) or not o.type.is_written_plainly or name.startswith("__"):
            raise Unfit(f"an assignment to the attribute {name}", self.b.place)
        found = self.scope.of_class(o.cls, name)
        is_slot = type(found) is MemberDescriptorType
        is_own = o.cls.__dictoffset__ and (found is MISSING or not overrides(found))
        if not is_slot and not is_own:
            raise Unfit(f"an assignment to the attribute {name} of a class", self.b.place)
        slot = owned(o, name)
        has_default = found is not MISSING and not is_slot
        is_bound = slot in self.slots.values and slot not in self.slots.maybe
        if (
            not (o.path or is_bound)
            and has_default
            and (o.cls, name) not in self.findings.defaulted
        ):
            self.findings.defaulted.add((o.cls, name))
            raise Again
        if slot.own in self.of_classes and self.b.loops:
            raise Unfit(
                f"the attribute {name}, which the class has in the first pass of a loop",
                self.b.place,
            )
        if o.path and o.path[0] >= self.passed_first:
            raise Unfit(f"an assignment to the attribute {name} of a global object", self.b.place)
        self.own_attributes.add(slot.own)
        if not o.path:
            self.bind_own(slot, value)
            return
        self.require_unshared(slot)
        if slot.own not in self.findings.assigned:
            self.findings.assigned[slot.own] = o.path, slot
            is_there = self.type_at(o, name) is not None
            if is_there or self.b.loops or slot.own in self.asked:
                raise Again
        self.bind(slot, value)

    def assigned_slots(self) -> list[tuple[Path, Any, Value]]:
        """Return the assignments: the path of the holder, the name or key, and the final value."""
        return [
            (path, self.step_to(slot), self.bound_attribute(slot))
            for path, slot in self.findings.assigned.values()
        ] + [*class_attributes.changed(self)]

    def step_to(self, slot: Slot) -> Any:
        """Return the name of an attribute, or the key or position of an item."""
        holder = self.holders.get(slot.owner[:-1])
        return slot.name if holder is None else [*holder.keys][int(slot.name)]


def is_plain_class(cls: type) -> bool:
    """Return True for a class that no code of the program's makes instances of."""
    if type(cls) is abc.ABCMeta and cls.__abstractmethods__:  # type: ignore[attr-defined]
        return False
    is_plain = type(cls) in (type, abc.ABCMeta)
    return is_plain and all(base is object or base.__flags__ & HEAP for base in cls.__mro__)


def owned(o: Object, name: str) -> Slot:
    """Return the slot of an attribute."""
    return Slot(f"{o.name}.", name)


def put_at(ctx: Mode, o: Any, step: Any, value: Any) -> None:
    """Set an attribute of an object, or an item of a list or a dict."""
    if isinstance(o, CONTAINERS):
        ctx.setitem(o, step, value)
    else:
        ctx.setattr(o, step, value)
