"""Hooks that run while the program makes a class: they run derived, and what they write is undone.

Each is tried with a hook that reads elements of an active array, computes with an active number,
and writes to a global list.
"""

from __future__ import annotations

import abc
import enum
import types
import typing
from typing import Any

import numpy as np
import pytest

from mooncake_py import errors, grad, value_and_grad
from tests.support.gradients import check
from tests.support.hooks import HOOKS, Scenario, X, check_all_modes, check_gradient
from tests.support.pairs import rotating

scenarios: list[Scenario] = []


def scenario(f: Scenario) -> Scenario:
    """Collect a function of an array and a hook, which runs as a class is made."""
    scenarios.append(f)
    return f


@scenario
def init_subclass(x, hook):
    class Base:
        def __init_subclass__(cls, factor=1.0):
            super().__init_subclass__()
            cls.rate = hook() * factor

    class Middle(Base, factor=x[1]):
        pass

    class Model(Middle):
        pass

    return Model.rate * Middle.rate


@scenario
def init_subclass_of_abstract(x, hook):
    class Base(abc.ABC):
        def __init_subclass__(cls):
            cls.rate = hook()

        @abc.abstractmethod
        def value(self): ...

    class Model(Base):
        def value(self):
            return self.rate

    return Model().value()


@scenario
def set_name(x, hook):
    class Named:
        def __set_name__(self, owner, name):
            self.value = hook()
            owner.other = x[2] * len(name)

        def __get__(self, o, owner):
            return self.value

    class Model:
        ab = Named()

    return Model.ab * Model.other


@scenario
def init_of_metaclass(x, hook):
    class Meta(type):
        def __init__(cls, name, bases, names):
            cls.rate = hook() * names.get("z", 1.0)

    class A(metaclass=Meta):
        z = x[1]

    class B(A):
        pass

    return A.rate * B.rate


@scenario
def new_of_metaclass(x, hook):
    class Meta(type):
        def __new__(meta, name, bases, names, **options):
            cls = super().__new__(meta, name, bases, names)
            cls.rate = hook() * options.get("z", 2.0)
            return cls

        def __init__(cls, *args, **options):
            super().__init__(*args)
            cls.w = x[1] * cls.rate

    class A(metaclass=Meta, z=x[2]):
        pass

    b = Meta("B", (), {"e": x[0]})
    return A.rate * b.rate * A.w + b.e


@scenario
def prepared_names(x, hook):
    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases):
            return {**super().__prepare__(name, bases), "k": hook()}

    class A(metaclass=Meta):
        b = k * 2.0  # noqa: F821

    return A.b * A.k


@scenario
def mapping_of_names(x, hook):
    class Names(dict):
        def __setitem__(self, name, value):
            super().__setitem__(name, value * x[0] if isinstance(value, float) else value)

        def __missing__(self, name):
            if name != "unknown":
                raise KeyError(name)
            return hook()

    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases):
            return Names()

    class A(metaclass=Meta):
        b = 2.0
        c = unknown + b  # noqa: F821
        del b
        d = float("3")

    return A.c * A.d


@scenario
def entries_of_bases(x, hook):
    class Source:
        def __mro_entries__(self, bases):
            class Base:
                rate = hook()

            return (Base,)

    class A(Source()):
        pass

    return A.rate * len(A.__orig_bases__)


@scenario
def classes_without_a_statement(x, hook):
    class Base:
        def __init_subclass__(cls):
            cls.rate = hook() * cls.factor

    a = type("A", (Base,), {"factor": x[1]})
    b = types.new_class("B", (a,), {}, lambda names: names.update(factor=x[2]))
    return a.rate * b.rate


@scenario
def new_of_members(x, hook):
    class E(enum.Enum):
        def __new__(cls, value):
            member = object.__new__(cls)
            member._value_ = value
            member.rate = hook() * value
            return member

        A = 1.0
        B = 2.0

    return E.A.rate * E.B.rate * E(2.0).rate


@scenario
def init_of_members(x, hook):
    class Base(enum.Enum):
        def __init__(self, value):
            self.rate = hook() * value

    class E(Base):
        A = 1.0
        B = 2.0

    assert E.__init__ is Base.__init__
    return E.A.rate * E.B.rate


@scenario
def next_values_of_members(x, hook):
    class E(enum.Enum):
        def _generate_next_value_(name, start, count, last):
            return hook() * (count + 1)

        A = enum.auto()
        B = enum.auto()

    return E.A.value * E.B.value


@scenario
def enumerations_of_names(x, hook):
    class Mixed:
        def __init__(self, value):
            self.rate = hook() * value

    class Base(enum.Enum):
        def _generate_next_value_(name, start, count, last):
            return hook()

    class E(Mixed, enum.Enum):
        A = 2.0

    made = enum.Enum("Made", {"A": 1.0, "B": 2.0}, type=Mixed)
    return made.A.rate * made.B.rate * Base("Named", ["A"]).A.value * E.A.rate


@scenario
def orders_of_bases(x, hook):
    found = []

    class Meta(type):
        def mro(cls):
            found.append(hook())
            return super().mro()

    class A(metaclass=Meta):
        pass

    return found[0] * len(A.__mro__)


@scenario
def classes_within_hooks(x, hook):
    class Base:
        made: typing.ClassVar[list[Any]] = []

        def __init_subclass__(cls):
            Base.made.append(cls)
            if cls.__name__ == "A":

                class Inner(Base):
                    pass

                cls.inner = Inner
            cls.rate = hook()

    class A(Base):
        pass

    return A.rate * A.inner.rate * len(Base.made)


@pytest.mark.parametrize(("f", "hook"), rotating(scenarios, HOOKS))
def test_gradients(f: Scenario, hook: Any) -> None:
    check_gradient(hook(f))


@pytest.mark.parametrize(("f", "hook"), rotating(scenarios, HOOKS))
def test_all_modes(f: Scenario, hook: Any) -> None:
    check_all_modes(hook(f))


# What statements mean, as in Python.


class Registered:
    known: typing.ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        Registered.known[cls.__name__] = cls


def test_registries_are_as_before() -> None:
    def f(x: Any) -> Any:
        class A(Registered):
            pass

        return x * len(Registered.known) * (Registered.known["A"] is A)

    assert value_and_grad(f)(2.0) == (2.0, 1.0)
    assert Registered.known == {}


def test_hooks_are_themselves_again() -> None:
    hook = vars(Registered)["__init_subclass__"]

    def f(x: Any) -> Any:
        class E(enum.Enum):
            def __init__(self, value: float) -> None:
                self.rate = x * value

            A = 1.0

        class Base(enum.Enum):
            def __new__(cls, value: float) -> Any:
                member = object.__new__(cls)
                member._value_ = value
                return member

        class Of(Base):
            B = 2.0

        class A(Registered):
            pass

        kept = E.__init__, Of._new_member_, Of.__new_member__  # type: ignore[attr-defined]
        assert [f.__name__ for f in kept] == ["__init__", "__new__", "__new__"]
        return E.A.rate

    assert grad(f)(2.0) == 1.0
    assert vars(Registered)["__init_subclass__"] is hook


def refuses(x: Any) -> Any:
    class Named:
        def __set_name__(self, owner: Any, name: str) -> None:
            self.v = np.array(["a"])[int(x)]
            memoryview(x * np.ones(2))[0] = 1.0

    class A:
        v = Named()

    return A.v.v


def test_refusals_within_hooks_are_raised() -> None:
    with pytest.raises(errors.MooncakeError):
        grad(refuses)(0.0)


def test_metaclasses_that_conflict() -> None:
    def conflict(x: Any) -> Any:
        class Meta(type):
            pass

        class B(metaclass=Meta):
            pass

        class C(abc.ABC, B):
            pass

        return x

    with pytest.raises(TypeError, match="metaclass conflict"):
        grad(conflict)(1.0)


def test_not_a_mapping_of_names() -> None:
    def f(x: Any) -> Any:
        class Meta(type):
            @classmethod
            def __prepare__(cls, name: str, bases: Any) -> Any:
                return 3

        class A(metaclass=Meta):
            pass

        return x

    with pytest.raises(TypeError, match=r"Meta.__prepare__\(\) must return a mapping, not int"):
        grad(f)(1.0)


def test_classes_of_the_standard_library() -> None:
    def f(x: Any) -> Any:
        T = typing.TypeVar("T")

        class Point(typing.NamedTuple):
            a: float
            b: float = 2.0

        class Box(typing.Generic[T]):
            def __init__(self, v: T) -> None:
                self.v = v

        class Floats(Box[float]):
            pass

        class Shape(typing.Protocol):
            def area(self) -> float: ...

        class Options(typing.TypedDict):
            a: float

        class Color(enum.IntEnum):
            RED = 1

            @property
            def rate(self) -> Any:
                return x[self.value]

        assert Floats.__orig_bases__ == (Box[float],)  # type: ignore[attr-defined]
        return (
            Point(x[0]).a * Point(x[0]).b * Floats(x[1]).v * Options(a=x[2])["a"] * Color.RED.rate
        )

    check(f, X)
