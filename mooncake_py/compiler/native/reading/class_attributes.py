"""Attributes of classes that the program assigns: flags such as ``Layer.training``, counters.

    Layer.training = False          class0.training = False     a constant, where no branch or
    net(x)                          `self.training` is False    loop assigns it
    Layer.training = True           class0.training = True      as before: nothing is set afterwards

Instances and classes below read what the class holds then.  What it holds in the end is set when
the region has run, if that is something else than at first.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import HEAP, Path
from mooncake_py.compiler.native.building.values import Known, Number, Unfit, Value
from mooncake_py.compiler.native.reading.scope import constant
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.regions.ir import Const
from mooncake_py.runtime.attribute_lookup import MISSING, in_class

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.objects import ObjectReader

__all__ = ["bind", "bind_first", "changed", "is_class", "read", "require_none"]


def is_class(value: Value) -> bool:
    """Return True for a class of the program's."""
    if not isinstance(value, Known) or not issubclass(type(value.value), type):
        return False
    return bool(value.value.__flags__ & HEAP)


def bind_first(r: ObjectReader) -> None:
    """Let the slots of attributes that are assigned somewhere stand for what they are on entry."""
    for (cls, name), varies in r.findings.class_attributes.items():
        slot, value = slot_of(r, cls, name), constant(r.scope.of_class(cls, name))
        if not isinstance(value, Number) and not (isinstance(value, Known) and value.never_changes):
            raise Unfit(
                f"an assignment to the attribute {name} of the class {cls.__name__}, which holds "
                f"{'an array or such' if value is None else said(value)}: use an instance"
            )
        if varies:
            r.bind(slot, value)
        else:
            r.slots.bound(slot, value)


def read(r: ObjectReader, cls: type, name: str) -> Value | None:
    """Return the value in a class, or in one above it, of a name that is assigned somewhere."""
    assigned = r.findings.class_attributes
    for base in cls.__mro__ if assigned else ():
        if (base, name) in assigned:
            return r.bound_attribute(slot_of(r, base, name))
        if name in base.__dict__:
            return None
    return None


def require_none(r: ObjectReader, cls: type, name: str) -> None:
    """Raise for a name that is assigned to a class or one above it, where that is not supported."""
    if any((base, name) in r.findings.class_attributes for base in cls.__mro__):
        raise Unfit(f"the attribute {name}, which both a class and its instances assign", r.b.place)


def bind(r: ObjectReader, cls: type, name: str, value: Value) -> None:
    """Bind an attribute of a class."""
    if name.startswith("__") or type(cls).__setattr__ is not type.__setattr__:
        raise Unfit(f"an assignment to the attribute {name} of a class", r.b.place)
    if name not in cls.__dict__ or in_class(type(cls.__dict__[name]), "__get__") is not MISSING:
        raise Unfit(
            f"an assignment to the attribute {name} of the class {cls.__name__}, which has no such "
            "number or text yet: define it in the class",
            r.b.place,
        )
    if any(issubclass(cls, one) and own == name for one, own in r.findings.defaulted):
        require_none(r, cls, name)
    is_constant = isinstance(value, Number) and isinstance(value.e, Const)
    assigned, is_once = r.findings.class_attributes, r.is_straight and not r.b.loops
    varies = not is_once and isinstance(value, Number)
    if (cls, name) not in assigned or (varies and not assigned[cls, name]):
        assigned[cls, name] = varies
        raise Again
    if is_constant and not assigned[cls, name]:
        r.slots.bound(slot_of(r, cls, name), value)
    else:
        r.bind(slot_of(r, cls, name), value)


def changed(r: ObjectReader) -> Iterator[tuple[Path, Any, Value]]:
    """Yield the class, the name and the value of each attribute that is set afterwards."""
    for cls, name in r.findings.class_attributes:
        value = r.bound_attribute(slot_of(r, cls, name))
        if value != constant(r.scope.of_class(cls, name)):
            yield (weakref.ref(cls),), name, value


def slot_of(r: ObjectReader, cls: type, name: str) -> Slot:
    """Return the slot of an attribute of a class."""
    classes = list(dict.fromkeys([one for one, _ in r.findings.class_attributes]))
    return Slot(f"class{classes.index(cls)}.", name)
