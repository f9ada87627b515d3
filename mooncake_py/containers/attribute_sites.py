"""Sites of attributes in rewritten code: no question is asked where only the object takes part.

A read is ``o.a`` itself where the class and the gate are those of the site; else, and for writes,
a method of the site runs.
"""

from __future__ import annotations

from enum import EnumMeta
from typing import Any

from mooncake_py.containers.state import restore_attribute
from mooncake_py.runtime.activity import INERT, holds_inert
from mooncake_py.runtime.attribute_lookup import (
    MISSING,
    PLAIN_READS,
    in_class,
    is_kept_by_instances,
    is_one_of,
)
from mooncake_py.runtime.pulls import pull_attribute
from mooncake_py.runtime.sites import CallSite, Site

__all__ = ["AttributeSite"]

NEVER: Any = NotImplemented
MOST = 8
"""The number of further classes that a site handles."""


class AttributeSite(Site):
    """A read or a write of an attribute.

    Attributes
    ----------
    t, gate : type, object
        The class of the objects for which no code runs, and of what context.
    others : dict
        Further such classes, by their ids.
    property : tuple
        A class, a gate and a property that is read of its objects.  Without a property no code
        runs for the class itself; for objects of it, it is not known what runs.
    inner : CallSite
        Where the property is called.
    """

    __slots__ = ("gate", "inner", "name", "others", "property", "t")

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.inner = CallSite()
        self.forget()

    def forget(self) -> None:
        """Hold nothing of a derivative that ends."""
        self.gate = NEVER  # first: other threads may look at both
        self.t: Any = None
        self.others: dict[int, type] = {}
        self.property: Any = None, NEVER, None

    def serve(self, C: Any, t: type) -> None:
        """Handle objects of a class from now on, until the derivative ends."""
        if self.gate is C.gate and len(self.others) < MOST:
            self.others[id(t)] = t
            return
        C.sites.add(self)
        self.gate = NEVER
        self.t, self.others = t, {}
        self.gate = C.gate

    def get(self, C: Any, o: Any) -> Any:
        """Read the attribute."""
        t = type(o)
        if C.gate is self.gate and (t is self.t or id(t) in self.others):
            return getattr(o, self.name)
        kind, gate, found = self.property
        if (t is kind or o is kind) and C.gate is gate:
            if found is None:
                return getattr(o, self.name) if o is kind else C.getattr(o, self.name)
            if in_class(t, self.name) is found:  # a descriptor would run
                return self.inner.way.call1(self.inner, C, found.fget, o)  # type: ignore[attr-defined]
        value = C.getattr(o, self.name)
        if self.may_choose(C):
            self.choose_reading(C, o)
        return value

    def peek(self, C: Any, o: Any) -> Any:
        """Read the attribute for a statement that is only tried: see `Attributes.peek`."""
        t = type(o)
        if C.gate is self.gate and (t is self.t or id(t) in self.others):
            return getattr(o, self.name, Ellipsis)
        value = C.peek(o, self.name)
        plain = value is not Ellipsis and C.readers.get((t, self.name), MISSING) is None
        if plain and self.may_choose(C):
            self.serve(C, t)
        return value

    def choose_reading(self, C: Any, o: Any) -> None:
        """Handle the class, or the object's class, that was read, if it is known what runs."""
        t = type(o)
        if issubclass(t, type):
            value = getattr(o, self.name) if C.reader(o, self.name) is None else None
            C.sites.add(self)
            self.property = o if lasts(value) and value is not None else t, C.gate, None
            return
        reader = C.readers.get((t, self.name), MISSING)
        if reader is None:
            self.serve(C, t)
        else:
            found: Any = in_class(t, self.name) if reader is not MISSING else None
            plain = is_one_of(t.__getattribute__, PLAIN_READS) and not hasattr(t, "__getattr__")
            if type(found) is not property or found.fget is None or not plain:
                found = None
            C.sites.add(self)
            self.property = t, C.gate, found

    def set(self, C: Any, o: Any, v: Any) -> None:
        """Write the attribute.

        What nobody can have read yet needs no undoing: the first write of an attribute of an object
        that is being made, unless something ran since that runs again on the way back.
        """
        t = type(o)
        if C.gate is self.gate and (t is self.t or id(t) in self.others):
            name = self.name
            old = getattr(o, name, MISSING)
            if old is not MISSING or o is not C.newborn or C.newborn_since != C.registry.again:
                C.record((pull_attribute, restore_attribute, o, name, old))
            setattr(o, name, v)
            return
        C.setattr(o, self.name, v)
        self.choose_writing(C, t)

    def change(self, C: Any, op: str, o: Any, v: Any) -> None:
        """Run ``o.a op= v``."""
        t = type(o)
        if C.gate is self.gate and (t is self.t or id(t) in self.others):
            self.set(C, o, getattr(C, op)(getattr(o, self.name), v))
            return
        C.augattr(op, o, self.name, v)
        self.choose_writing(C, t)

    def choose_writing(self, C: Any, t: type) -> None:
        """Handle a class of which an object was written, if no code runs."""
        kind, gate, _ = self.property
        if (t is kind and C.gate is gate) or not self.may_choose(C):
            return
        if is_kept_by_instances(t, self.name):
            self.serve(C, t)
        else:
            C.sites.add(self)
            self.property = t, C.gate, None


def lasts(value: Any) -> bool:
    """Return whether what a class holds leads to no objects: what else it holds is looked into."""
    if type(value) in INERT or callable(value):
        return True
    if type(type(value)) is EnumMeta:
        return all(map(is_part_of_member, vars(value).values()))
    return False


def is_part_of_member(value: Any) -> bool:
    """Return whether what a member of an enumeration keeps leads to no objects."""
    return type(value) in INERT or callable(value) or (type(value) is tuple and holds_inert(value))
