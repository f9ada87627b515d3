"""How classes are made: slots, descriptors, inheritance, metaclasses, enumerations."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import abc
import enum
from typing import Any

import pytest

from tests.support.gradients import Program, Programs

programs = Programs()


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b


@programs(2.0, 3.0)
def slots_made_inside(x, y):
    s = Slotted(x, y)
    s.a *= s.b
    del s.b
    s.b = s.a + x
    return s.a * s.b


class Positive:
    """A data descriptor written in Python."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, o: Any, owner: Any = None) -> Any:
        return getattr(o, self.name) * 2

    def __set__(self, o: Any, value: Any) -> None:
        setattr(o, self.name, value * value)


class Described:
    x = Positive()


class Dynamic:
    """Attributes found and stored explicitly."""

    def __init__(self, **values: Any) -> None:
        object.__setattr__(self, "values", dict(values))

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name] * 3
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self.values[name] = value * 2


@programs(2.0)
def descriptors_and_dynamic_attributes(x):
    d = Described()
    d.x = x
    e = Dynamic(a=x)
    e.b = e.a * x
    return d.x * x + e.b * e.a + getattr(e, "missing", x)


class Shape(abc.ABC):
    def __init__(self, scale: Any) -> None:
        self.scale = scale

    @abc.abstractmethod
    def area(self) -> Any: ...

    def scaled(self) -> Any:
        return self.area() * self.scale


class Doubled:
    """A mixin."""

    def scaled(self) -> Any:
        return 2 * super().scaled()  # type: ignore[misc]


class Square(Doubled, Shape):
    def __init__(self, side: Any, scale: Any = 1.0) -> None:
        super().__init__(scale)
        self.side = side

    def area(self) -> Any:
        return self.side**2


class Cube(Square):
    def area(self) -> Any:
        return super().area() * self.side

    @classmethod
    def of(cls, side: Any) -> Cube:
        return cls(side, side)


@programs(2.0)
def inheritance(x):
    return Cube(x, x).scaled() + Square(x).scaled() + Cube.of(x).area() + Square.area(Cube(x))


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        made = super().__call__(*args)
        made.total = made.a * 2
        return made


class Made(metaclass=Meta):
    def __new__(cls, a: Any) -> Made:
        made = super().__new__(cls)
        made.early = a * 3
        return made

    def __init__(self, a: Any) -> None:
        self.a = a


@programs(2.0)
def new_and_metaclass(x):
    m = Made(x)
    return m.total * m.early * m.a


class Registered:
    known: list[Any] = []
    scale = 1.0

    def __init_subclass__(cls, scale: Any = 1.0) -> None:
        cls.scale = scale


@programs(2.0)
def init_subclass(x):
    class Child(Registered, scale=x * x):
        pass

    return Child.scale * 3


class Kind(enum.Enum):
    FAST = 2.0
    SLOW = 0.5

    def apply(self, v: Any) -> Any:
        return v * self.value


@programs(2.0)
def enums(x):
    y = Kind.FAST.apply(x) * Kind(0.5).value + Kind["SLOW"].apply(x * x)
    return y * len(Kind) + sum(k.value * x for k in Kind)


class Subdict(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        self[key] = 2.0
        return self[key]

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value * 2)


class Sublist(list[Any]):
    def append(self, v: Any) -> None:
        super().append(v * 3)

    def total(self) -> Any:
        return sum(self)


@programs(2.0)
def subclasses_of_containers(x):
    d, v = Subdict(), Sublist([x])
    d["a"] = x
    v.append(x * x)
    v[0] *= 2
    return d["a"] * d["b"] + v.total() * v[1]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
