"""Protocols of classes: dispatch, enumerations, metaclasses, descriptors, iterators, managers."""

from __future__ import annotations

import abc
import contextlib
import enum
import functools
import random
import struct
import types
import typing
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import MissingRuleError
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, 1.2, 0.7])


@functools.singledispatch
def total(v: Any) -> Any:
    return v * 2


@total.register(np.ndarray)
def _(v: Any) -> Any:
    return np.sum(v * v)


@total.register(list)
def _(v: Any) -> Any:
    return v[0] * v[1]


@total.register
def _(v: float) -> Any:
    return v * v * v


class Dispatching:
    @functools.singledispatchmethod
    def go(self, v: Any) -> Any:
        return v * 3

    @go.register
    def _(self, v: float) -> Any:
        return v * v


@programs(X)
def single_dispatch(x):
    by_type = total(x) + total([x[0], x[1]]) + total(2.0 * x[0]) + total(3)
    return by_type + Dispatching().go(x[0]) + Dispatching().go(3) * x[1]


class Color(enum.Enum):
    RED = 1.5
    BLUE = 2.5

    def weight(self, v: Any) -> Any:
        return self.value * v * v

    @property
    def twice(self) -> float:
        return 2 * self.value


class Bits(enum.IntFlag):
    P = 1
    Q = 2


@programs(X)
def enumerations(x):
    y = sum(c.weight(v) * c.twice for c, v in zip(Color, x, strict=False))
    y = y + Color(1.5).weight(x[2]) + Color["BLUE"].value * x[0]
    return y + x[0] * (Bits.P | Bits.Q) + (x[1] if Bits.P in Bits(3) else 0.0)


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> Any: ...

    @property
    @abc.abstractmethod
    def edge(self) -> Any: ...

    def product(self) -> Any:
        return self.area() * self.edge


class Square(Shape):
    def __init__(self, s: Any) -> None:
        self.s = s

    def area(self) -> Any:
        return self.s**2

    @property
    def edge(self) -> Any:
        return 4 * self.s


@programs(X)
def abstract_classes(x):
    return Square(x[0]).product() + (x[1] if isinstance(Square(1.0), Shape) else 0.0)


def extended(cls: Any) -> Any:
    """Decorate a class: instances get one more attribute."""
    original = cls.__init__

    def __init__(self, *args: Any) -> None:
        original(self, *args)
        self.extra = self.v * 2

    cls.__init__ = __init__
    return cls


@extended
class Decorated:
    def __init__(self, v: Any) -> None:
        self.v = v


@programs(X)
def class_decorators(x):
    @extended
    class Inside:
        def __init__(self, v: Any) -> None:
            self.v = v * x[1]

    return Decorated(x[0]).extra * Decorated(x[1]).v + Inside(x[2]).extra


class Slots:
    __slots__ = ("__b", "a", "c")

    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.__b = b

    def product(self) -> Any:
        return self.a * self.__b

    def set_b(self, b: Any) -> None:
        self.__b = b


class MoreSlots(Slots):
    __slots__ = ("__dict__", "d")


@programs(X)
def slots(x):
    s: Any = MoreSlots(x[0], x[1])
    s.d = x[2]
    s.e = x[0] * 3
    s.set_b(x[1] * x[2])
    y = s.product() * s.d + s.e
    del s.d
    return y + (0.0 if hasattr(s, "d") else x[2])


class Registered:
    scale: Any = 1.0

    def __init_subclass__(cls, scale: Any = 1.0, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.scale = scale

    def value(self, v: Any) -> Any:
        return self.scale * v


@programs(X)
def init_subclass(x):
    class Inside(Registered, scale=x[0]):
        pass

    return Inside().value(x[1])


class Squaring:
    """A descriptor that stores the square and reads it doubled."""

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = "_" + name

    def __get__(self, o: Any, owner: Any = None) -> Any:
        return self if o is None else getattr(o, self.name) * 2

    def __set__(self, o: Any, v: Any) -> None:
        setattr(o, self.name, v * v)

    def __delete__(self, o: Any) -> None:
        delattr(o, self.name)


class Described:
    q = Squaring()


@programs(X)
def descriptors(x):
    h = Described()
    h.q = x[0]
    y = h.q * x[1]
    h.q += x[2]
    y = y + h.q
    del h.q
    return y


class Meta(type):
    k: Any

    def __call__(cls, *args: Any) -> Any:
        o = super().__call__(*args)
        o.m = o.v * 3
        return o

    def __getitem__(cls, i: Any) -> Any:
        return cls.k * i

    @property
    def twice(cls) -> Any:
        return cls.k * 2

    def __iter__(cls) -> Any:
        return iter([1.0, 2.0])

    def __len__(cls) -> int:
        return 2

    def __contains__(cls, v: Any) -> bool:
        return v > 1


class WithMeta(metaclass=Meta):
    k = 2.5

    def __init__(self, v: Any) -> None:
        self.v = v


@programs(X)
def metaclasses(x):
    y = WithMeta(x[0]).m + WithMeta[x[1]] + WithMeta.twice * x[2] + len(WithMeta) * x[1]
    return y + sum(v * x[0] for v in WithMeta) + (x[0] if x[1] in WithMeta else 0.0)


class Doubling:
    """An iterator in Python."""

    def __init__(self, v: Any) -> None:
        self.v = v
        self.i = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.i >= len(self.v):
            raise StopIteration
        self.i += 1
        return self.v[self.i - 1] * 2


@programs(X)
def iterators(x):
    first, *rest = Doubling(x)
    it = Doubling(x)
    next(it)
    y = next(it) * next(it) + next(it, x[0]) + first * rest[0]
    y = y + max(Doubling(x)) + dict(zip("abc", Doubling(x), strict=True))["b"]
    y = y + sum(p * p for p in Doubling(x)) + sum(map(np.exp, Doubling(x)))
    y = y + functools.reduce(lambda p, q: p * q, Doubling(x))
    return y + np.array([*Doubling(x)]).sum()


class ByIndex:
    """The protocol of before iterators."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __getitem__(self, i: int) -> Any:
        if i >= 3:
            raise IndexError
        return self.v[i] ** 2

    def __len__(self) -> int:
        return 3

    def __reversed__(self) -> Any:
        return (self[i] for i in (2, 1, 0))


@programs(X)
def iteration_by_index(x):
    values = [x[0], x[1], 0]
    y = sum(iter(lambda: values.pop(0) * x[2], 0))
    return y + sum(ByIndex(x)) + next(reversed(ByIndex(x))) + len(ByIndex(x)) * x[1]


@programs(X)
def generators_that_receive(x):
    def inner():
        received = yield x[0]
        while received is not None:
            received = yield received * x[1]
        return x[2]

    def outer():
        v = yield from inner()
        yield v * 3

    it = inner()
    first = next(it)
    return it.send(first * 2) + sum(outer())


class Swallowing:
    """A manager that changes its state at both ends and swallows one kind of exception."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __enter__(self) -> Any:
        self.v = self.v * 2
        return self.v

    def __exit__(self, kind: Any, *details: Any) -> bool:
        self.v = self.v * 3
        return kind is ValueError


log: list[Any] = []


@contextlib.contextmanager
def scaled(v: Any) -> Any:
    try:
        yield v * 2
    finally:
        log.append(v)


@programs(X)
def managers(x):
    c = Swallowing(x[0])
    y = 0.0
    with c as v, Swallowing(x[1]) as w:
        y = v * w
        raise ValueError
    collected: list[Any] = []
    with contextlib.ExitStack() as stack:
        stack.callback(collected.append, stack.enter_context(scaled(x[0])) * x[1])
    with scaled(x[0]) as v, contextlib.suppress(ZeroDivisionError), contextlib.nullcontext(y) as n:
        y = v * n
        raise ZeroDivisionError
    return y * log[-1] + c.v + collected[0]


@programs(X)
def nested_containers(x):
    d: Any = {"a": [({"b": (x[0], [x[1]])},)]}
    d["a"][0][0]["b"][1].append(x[2])
    d["a"].append(d["a"][0][0]["b"][1][1] * 2)
    deep: Any = [x[0]]
    for _ in range(200):
        deep = [deep]
    for _ in range(200):
        deep = deep[0]
    return d["a"][1] * d["a"][0][0]["b"][0] + sum(d["a"][0][0]["b"][1]) * deep[0]


T = typing.TypeVar("T")


class Box(typing.Generic[T]):
    def __init__(self, v: Any) -> None:
        self.v = v

    def __class_getitem__(cls, key: Any) -> Any:
        return super().__class_getitem__(key)


@programs(X)
def generic_classes(x):
    return Box[float](x[0]).v * x[1]


@programs(X)
def attributes_by_dict(x):
    o: Any = types.SimpleNamespace(k=x[0])
    o.__dict__["j"] = x[1]
    vars(o)["m"] = x[2]
    o.__dict__.update(n=x[0])
    return o.k * o.j + o.m * o.n


@programs(X, [0, 1, 2])
def list_shuffled_by_the_library(x, order):
    random.Random(1).shuffle(order)
    y = x[order[0]] * x[order[1]] ** 2
    random.Random(2).shuffle(order)
    return y + x[order[0]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    log.clear()
    program.check()


def test_private_slots_of_an_argument():
    def f(s):
        s.set_b(s.product() * s.a)
        return np.sum(s.product())

    s = Slots(1.5, X.copy())
    g: Any = grad(f)(s)
    assert g.a == pytest.approx(3 * 1.5**2 * X.sum())
    np.testing.assert_allclose(g["_Slots__b"], 1.5**3)
    np.testing.assert_array_equal(s.product(), 1.5 * X)


def test_private_slots_are_searched_for_active_values():
    s = Slots(2.0, 1.0)

    def f(x):
        s.set_b(x)
        return struct.pack("d", s) or x

    with pytest.raises(MissingRuleError, match="active Slots"):
        grad(f)(X.copy())
    assert s.product() == 2.0
