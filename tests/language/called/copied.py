"""Copies of objects, replaced fields, and objects that are numbers."""

from __future__ import annotations

import abc
import copy
import numbers
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()


class Measured:
    """Has a number, so that operands of NumPy are looked at from now on."""

    def __init__(self, v):
        self.v = v

    def __float__(self):
        return float(self.v)


@program
def objects_that_are_numbers(x):
    items = [Measured(x), Measured(2.0 * x)]
    total = sum(float(m) for m in items) + sum(m.v for m in items) * len(list(zip(items, items)))  # noqa: B905
    return total + abs(-x) * isinstance(items[0], Measured) + np.sin(items[0].v) + max(x, 2.0)


class Base(abc.ABC):
    def __init__(self, x):
        self.x = x


class Node(Base):
    other: Any = None


class Hooked(Node):
    def __copy__(self):
        return Hooked(self.x * 2.0)

    def __deepcopy__(self, memo):
        return Hooked(self.x * 3.0)


class Stateful(Node):
    def __getstate__(self):
        return {"x": self.x * 2.0}


class Setting(Node):
    def __setstate__(self, state):
        self.x = state["x"] * 5.0


class Reduced(Node):
    def __reduce__(self):
        return Reduced, (self.x * 7.0,)


class Slots(Node):
    __slots__ = ("y",)


class Listed(list):  # type: ignore[type-arg]
    pass


for made in (*(cls(1.0) for cls in (Node, Setting, Slots)), Listed()):
    made.__reduce_ex__(4)  # after which the class knows its slots


@dataclass(frozen=True)
class Rates:
    a: Any
    b: Any = 2.0
    c: Any = field(default_factory=list)


@dataclass
class Partly:
    a: Any
    b: Any = field(init=False, default=3.0)

    def __post_init__(self):
        self.b = self.a * 2.0


@dataclass
class Given:
    a: Any
    by: InitVar[Any] = 1.0

    def __post_init__(self, by):
        self.a = self.a * by


@program
def copies_of_objects(x):
    a, b = Node(x), Node(x * x)
    a.other = b.other = [a, b, x]
    c, d = copy.copy(a), copy.deepcopy(a)
    c.x = c.x * 3.0
    d.x = d.x * 5.0
    d.other[1].x = d.other[1].x * 7.0
    assert c.other is a.other
    assert d.other[0] is d
    return a.x + c.x + d.x + b.x + d.other[1].x + sum(v for v in d.other[2:])


@program
def copies_by_hooks(x):
    kinds = (Hooked, Stateful, Setting, Reduced, Node)
    total = sum(copy.copy(cls(x)).x + copy.deepcopy(cls(x)).x for cls in kinds)
    slots, items = Slots(x), Listed([x, [x]])
    slots.y = x * x
    items.z = x  # type: ignore[attr-defined]
    deep = copy.deepcopy(items)
    deep[1][0] = x * 2.0
    return total + copy.copy(slots).y * copy.deepcopy(slots).y + deep[1][0] + items[1][0] + deep.z


@program
def copies_whose_class_gets_a_hook(x):
    total = 0.0
    for k in range(4):
        total = total + copy.copy(Node(x)).x + copy.deepcopy(Node(x)).x
        if k == 1:
            Node.__copy__ = lambda self: Node(self.x * 10.0)  # type: ignore[attr-defined]
        if k == 2:
            Node.__deepcopy__ = lambda self, memo: Node(self.x * 9.0)  # type: ignore[attr-defined]
    del Node.__copy__, Node.__deepcopy__  # type: ignore[attr-defined]
    return total


@program
def replaced_fields(x):
    r = Rates(x)
    for k in range(4):
        r = replace(r, a=r.a * x, b=r.b + k)
    p = replace(Partly(x), a=x * x)
    return r.a * r.b + len(r.c) + p.b + replace(Given(x), by=x).a


@program
def replaced_field_that_is_none(x):
    return replace(Rates(x), z=1.0).a  # type: ignore[call-arg]


@program
def replaced_field_that_is_not_given(x):
    return replace(Partly(x), b=x).a


@program
def replaced_fields_of_no_dataclass(x):
    return replace(Node(x), x=1.0).x  # type: ignore[type-var]


@program
def kinds_of_values(x):
    class Meta(type):
        def __instancecheck__(cls, o):
            return True

    class Any_(metaclass=Meta):
        pass

    total = isinstance(x, float) + 2 * isinstance(x, (int, str)) + 4 * isinstance(x, (int, float))
    total += 8 * isinstance(x, Any_) + 16 * isinstance(x, (int, Any_)) + 32 * isinstance("a", str)
    total += 64 * isinstance(x, numbers.Real) + 128 * isinstance(Node(x), (str, Base))
    total += 256 * isinstance(x, (int, (str, float))) + 512 * issubclass(bool, (str, int))
    return total * x + isinstance(x * x, float | int) * x


@program
def kinds_that_are_none(x):
    return isinstance(x, (float, 3)) * x + isinstance(x, (3, float)) * x  # type: ignore[arg-type]
