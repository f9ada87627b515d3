"""Attributes: what code of the user's a read, a write or a deletion runs; that it is derived."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B009

from __future__ import annotations

import dataclasses
import math
import types
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp, value_and_grad, vjp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


class Base:
    def __init__(self, a: Any) -> None:
        self.a = a

    @property
    def p(self) -> Any:
        return self.a * 2

    @p.setter
    def p(self, v: Any) -> None:
        self.a = v * 3

    @p.deleter
    def p(self) -> None:
        self.a = self.a * 0 + 5

    def m(self) -> Any:
        return self.a + 1


class Derived(Base):
    @property
    def p(self) -> Any:
        return super().p * 5

    @p.setter
    def p(self, v: Any) -> None:
        super(Derived, type(self)).p.__set__(self, v * 2)

    def nested(self) -> Any:
        def inner(k: Any) -> Any:
            return super(Derived, self).p * k

        return inner(3) + sum(super(Derived, self).m()[i] for i in range(2))


@programs(X)
def super_property(x):
    d = Derived(x)
    y = d.p * x
    d.p = y
    d.p += x
    return np.sum(d.p * d.nested()) + np.sum(getattr(super(Derived, d), "p"))


@programs(X)
def property_used_by_its_methods(x):
    b = Base(x)
    Base.p.__set__(b, x * x)
    y = np.sum(Base.p.__get__(b)) + np.sum(Base.__dict__["p"].__get__(b, Base))
    Base.p.__delete__(b)
    return y + np.sum(b.a * x)


class Kept(property):
    pass


class ByClass:
    def __init__(self, f: Any) -> None:
        self.f = f

    def __get__(self, o: Any, cls: Any) -> Any:
        return self.f(cls)


class Described:
    w = np.ones(3)

    def __init__(self, a: Any) -> None:
        self.a = a

    @Kept
    def doubled(self) -> Any:
        return self.a * 2

    @doubled.setter
    def doubled(self, v: Any) -> None:
        self.a = v / 2

    @ByClass
    def tripled(cls: Any) -> Any:
        return cls.w * 3


@programs(X)
def subclass_of_property(x):
    d = Described(x)
    y = d.doubled
    d.doubled = y * y
    return np.sum(d.a * d.doubled)


@programs(X)
def descriptor_read_from_the_class(x):
    Described.w = x
    return np.sum(Described.tripled * x) + np.sum(Described(x).tripled * x)


class Meta(type):
    @property
    def twice(cls) -> Any:
        return cls.w * 2

    def __getattr__(cls, name: str) -> Any:
        if name == "dynamic":
            return cls.w * 3
        raise AttributeError(name)

    def __setattr__(cls, name: str, v: Any) -> None:
        super().__setattr__(name, v * 2)

    def __call__(cls, *args: Any) -> Any:
        made = type.__call__(cls, *args)
        made.extra = made.a * 3
        return made


class WithMeta(metaclass=Meta):
    w = np.ones(3)

    def __init__(self, a: Any) -> None:
        self.a = a * a


@programs(X)
def attributes_of_a_metaclass(x):
    WithMeta.w = x
    made = WithMeta(x)
    return np.sum(WithMeta.twice * WithMeta.dynamic * x) + np.sum(made.extra * made.a)


class EqualToAll(type):
    def __eq__(cls, other: object) -> bool:
        return True

    __hash__ = type.__hash__


class Unequalled(metaclass=EqualToAll):
    def __init__(self, a: Any) -> None:
        self.a = a * a

    def twice(self) -> Any:
        return 2.0 * self.a


@programs(X)
def attributes_where_a_metaclass_calls_all_classes_equal(x):
    made = Unequalled(x)
    made.b = made.twice() * x
    return np.sum(made.a * made.b)


class Intercepted:
    def __init__(self, a: Any) -> None:
        self.a = a

    @property
    def p(self) -> Any:
        return object.__getattribute__(self, "a") * 5

    @property
    def q(self) -> Any:
        return self.a * 7

    def __getattribute__(self, name: str) -> Any:
        if name == "p":
            return object.__getattribute__(self, name) * 3
        return super().__getattribute__(name)


@programs(X)
def getattribute_comes_before_properties(x):
    o = Intercepted(x)
    return np.sum(o.p * o.q * o.a)


class Logged:
    def __init__(self, a: Any) -> None:
        object.__setattr__(self, "log", [])
        self.a = a

    @property
    def p(self) -> Any:
        return self.a

    @p.setter
    def p(self, v: Any) -> None:
        self.a = v * 3

    def __setattr__(self, name: str, v: Any) -> None:
        self.log.append(name)
        super().__setattr__(name, v * 2)

    def __delattr__(self, name: str) -> None:
        super().__setattr__("gone", getattr(self, name))
        super().__delattr__(name)


@programs(X)
def setattr_comes_before_properties(x):
    o = Logged(x)
    o.p = x
    del o.a
    return np.sum(o.gone * x) + len(o.log)


class Missing:
    def __init__(self, a: Any) -> None:
        self.a = a
        self.seen: list[Any] = []

    @property
    def p(self) -> Any:
        return self.absent

    @property
    def counted(self) -> Any:
        self.seen.append(self.a)
        self.a = self.a * 2
        return self.a

    def __getattr__(self, name: str) -> Any:
        if name == "p":
            return self.a * 5
        raise AttributeError(name)


@programs(X)
def property_that_raises_falls_back(x):
    return np.sum(Missing(x).p * x)


@programs(X)
def hasattr_runs_code(x):
    o = Missing(x)
    found = hasattr(o, "counted") + 2 * hasattr(o, "absent")
    return np.sum(o.a * o.seen[0]) * found


class Slots:
    __slots__ = ("__hidden", "a")

    def __init__(self, a: Any) -> None:
        self.a = a
        self.__hidden = a * 2

    def hidden(self) -> Any:
        return self.__hidden


@programs(X)
def slots_used_by_their_descriptors(x):
    o = Slots(x)
    Slots.a.__set__(o, o.a * 3)
    y = np.sum(Slots.a.__get__(o) * o.hidden())
    Slots.a.__delete__(o)
    return y if not hasattr(o, "a") else 0.0


@programs(X)
def functions_called_by_name(x):
    def f(a):
        a *= 2
        return np.sum(a * a)

    return f.__call__(x * 1) + np.sum(Base(x).m.__call__() * x)


KEPT = Base(X)
PROXY = weakref.proxy(KEPT)


@programs(X)
def weak_references(x):
    o = Base(x)
    reference, table = weakref.ref(o), weakref.WeakKeyDictionary()
    table[o] = x * 2
    PROXY.a = x
    reference().a = PROXY.p * x
    return np.sum(reference().p * table[o])


@programs(X)
def read_only_mappings(x):
    d = {"a": x}
    view = types.MappingProxyType(d)
    d["b"] = x * 2
    return np.sum(view["a"] * view.get("b")) + sum(np.sum(v) for v in view.values())


# Methods that dataclass writes.


class Tripling:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, o: Any, cls: Any = None) -> Any:
        return 1.0 if o is None else o.__dict__[self.name] * 2

    def __set__(self, o: Any, v: Any) -> None:
        o.__dict__[self.name] = v * 3


@dataclasses.dataclass
class WithDescriptor:
    z: Any = Tripling()


@dataclasses.dataclass
class WithSetattr:
    a: Any
    b: Any = 2.0

    def __setattr__(self, name: str, v: Any) -> None:
        object.__setattr__(self, name, v * 2)


@dataclasses.dataclass
class Point:
    a: Any
    b: Any = 2.0


class Extended(Point):
    def __init__(self, a: Any, c: Any) -> None:
        super().__init__(a, b=a * 2)
        self.c = c


@dataclasses.dataclass(init=False)
class Uninitialized(Point):
    c: Any = 3.0


@programs(X)
def dataclass_stores_by_the_methods_of_the_class(x):
    d, e = WithDescriptor(x), WithSetattr(x, b=x * 3)
    return np.sum(d.z * x) + np.sum(e.a * e.b)


@programs(X)
def dataclass_init_called_by_a_subclass(x):
    d, e = Extended(x, x * 3), Uninitialized(x)
    e.c = e.c * x
    return np.sum(d.a * d.b * d.c) + np.sum(e.a * e.c) + len(vars(e))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


# What the function leaves behind is put back.

GLOBAL = Logged(X)
SLOTTED = Slots(X)


def test_deletions_and_slots_of_global_objects_are_undone() -> None:
    def f(x):
        del GLOBAL.a
        Slots.a.__set__(SLOTTED, x)
        return np.sum(GLOBAL.gone * SLOTTED.a)

    before, log = GLOBAL.a, list(GLOBAL.log)
    np.testing.assert_allclose(grad(f)(X), before)
    assert GLOBAL.a is before
    assert vars(GLOBAL) == {"log": log, "a": before}
    assert SLOTTED.a is X


def test_order_of_attributes_is_restored() -> None:
    o = types.SimpleNamespace(a=1.0, b=2.0, c=3.0)

    def f(x):
        del o.a
        o.a = x
        o.d = x * 2
        return o.a * o.d

    assert grad(f)(3.0) == 12.0
    assert list(vars(o).items()) == [("a", 1.0), ("b", 2.0), ("c", 3.0)]


def test_class_attribute_that_becomes_a_property_is_looked_up_anew() -> None:
    class Growing:
        v = 1.0

    def f(x):
        o = Growing()
        first = o.v
        Growing.v = property(lambda self: x * x)
        return first * o.v

    assert grad(f)(3.0) == 6.0
    assert Growing.v == 1.0


class Swinging:
    def __init__(self, angle, speed):
        self.angle = angle
        self.speed = speed


class Slotted:
    __slots__ = ("angle", "speed")
    __init__ = Swinging.__init__


class WithDefault(Swinging):
    speed = 0.5


@pytest.mark.parametrize("cls", [Swinging, Slotted, WithDefault])
def test_attributes_written_again_and_again_are_restored(cls):
    def f(x):
        p = cls(x, x * 0.5)
        for _ in range(3):
            p.speed = p.speed - 0.1 * math.sin(p.angle)
            p.angle = p.angle + 0.1 * p.speed
        del p.angle
        p.angle = p.speed * x
        state.speed = p.speed * 2.0
        state.angle = state.speed + p.angle
        return state.angle

    state = cls(1.0, 2.0)
    h = 1e-6
    ahead, behind = f(0.7 + h), f(0.7 - h)
    state.angle, state.speed = 1.0, 2.0
    _, g = value_and_grad(f)(0.7)
    assert_allclose(g, (ahead - behind) / (2 * h), rtol=1e-8)
    assert (state.angle, state.speed) == (1.0, 2.0)


def test_an_attribute_that_becomes_a_property_between_writes_runs_the_property():
    class Box:
        pass

    def f(x):
        box = Box()
        box.width = x
        box.width = x * 2.0
        first = box.width
        Box.width = property(lambda self: self.held * 3.0, lambda self, v: set_held(self, v))
        box.width = x * x
        return first + box.width

    def set_held(box, v):
        box.held = v

    assert value_and_grad(f)(2.0) == (4.0 + 12.0, 2.0 + 12.0)
    assert jvp(value_and_grad(f), (2.0,), (1.0,)) == ((16.0, 14.0), (14.0, 6.0))
    assert "width" not in vars(Box)


class Record(dict):
    """A dict whose keys are attributes, as in SciPy."""

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__
    __getattr__ = dict.__getitem__


def test_attributes_that_are_keys_are_written_and_put_back():
    def f(x, record):
        record.a = x * x
        record.new = record.a * x
        del record.b
        return record.new + record.a

    record = Record(a=1.0, b=2.0)
    for _ in range(2):
        assert value_and_grad(f)(2.0, record) == (12.0, 16.0)
        assert list(record.items()) == [("a", 1.0), ("b", 2.0)]
    assert jvp(f, (2.0, record), (1.0, None)) == (12.0, 16.0)
    assert list(record.items()) == [("a", 1.0), ("b", 2.0)]


def test_pullback_of_attributes_that_are_keys_twice():
    def f(x):
        record = Record()
        record.a = x * x
        record.flag = True
        return record.a * record.flag

    _, pullback = vjp(f, 3.0)
    assert pullback(1.0) == pullback(1.0) == (6.0,)
