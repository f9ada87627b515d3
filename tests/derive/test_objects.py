"""The object model: classes, attributes, special methods, dataclasses and copies."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B009, B010, B905, RUF015

from __future__ import annotations

import abc
import copy
import dataclasses
import enum
import functools
import types
from typing import Any

import numpy as np
import pytest

from mooncake_py import from_vjp, grad
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


class Spring:
    """Plain attributes, methods, and a class attribute."""

    gravity = 9.8
    shared = np.array([1.0, 2.0, 3.0])

    def __init__(self, stiffness: Any, position: Any) -> None:
        self.stiffness = stiffness
        self.position = position

    def force(self) -> Any:
        return -self.stiffness * self.position

    def step(self, dt: Any) -> None:
        self.position = self.position + dt * self.force()
        self.velocity = self.force()

    @property
    def energy(self) -> Any:
        return 0.5 * self.stiffness * self.position**2

    @energy.setter
    def energy(self, value: Any) -> None:
        self.position = (2 * value / self.stiffness) ** 0.5

    @classmethod
    def unit(cls, stiffness: Any) -> Spring:
        return cls(stiffness, cls.gravity)

    @staticmethod
    def cube(v: Any) -> Any:
        return v**3

    @functools.cached_property
    def period(self) -> Any:
        return 1 / self.stiffness**0.5


@programs(2.0, 0.5)
def object_made_inside(k, x):
    s = Spring(k, x)
    s.step(0.1)
    s.step(k)
    return s.energy + s.velocity * Spring.unit(k).energy + s.cube(x) + s.period * s.period


@programs(Spring(2.0, 0.5), 0.1)
def object_as_argument(s, dt):
    s.step(dt)
    s.stiffness *= 2
    s.energy = s.energy * 3
    s.extra = s.position * dt
    return s.position * s.velocity + s.extra + s.period


@programs(Spring(X, X * 2))
def object_of_arrays(s):
    s.position += s.force() * 0.1
    alias = s.position
    s.stiffness[1:] *= alias[:-1]
    return np.sum(s.energy * Spring.shared)


@programs({"left": Spring(2.0, X), "right": [Spring(3.0, 1.5)]})
def objects_in_containers(d):
    d["left"].step(0.1)
    d["right"][0].position *= d["left"].stiffness
    d["right"].append(Spring(d["right"][0].position, 2.0))
    return np.sum(d["left"].position) * d["right"][0].energy + d["right"][1].energy


@programs(Spring(2.0, 0.5))
def attributes_by_name(s):
    setattr(s, "other", getattr(s, "stiffness") * 2)
    y = getattr(s, "missing", s.other) * s.__dict__["position"] + vars(s)["other"]
    if hasattr(s, "other"):
        del s.other
    delattr(s, "position")
    return y * s.stiffness + (0.0 if hasattr(s, "position") else s.stiffness)


@programs(2.0)
def class_attribute_written_and_restored(x):
    Spring.gravity = x * 2
    y = Spring.unit(x).position * x
    Spring.gravity = 9.8
    return y


@programs(Spring(2.0, 0.5))
def bound_methods_passed_around(s):
    f, step = s.force, s.step
    step(0.1)
    return f() * sum(g() for g in [s.force, f]) + Spring.force(s)


class Vector:
    """Operators, items, iteration, comparison, truth, call."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(*[a + b for a, b in zip(self.values, other.values, strict=True)])

    def __mul__(self, factor: Any) -> Vector:
        return Vector(*[v * factor for v in self.values])

    __rmul__ = __mul__

    def __neg__(self) -> Vector:
        return self * -1.0

    def __matmul__(self, other: Vector) -> Any:
        return sum(a * b for a, b in zip(self.values, other.values, strict=True))

    def __iadd__(self, other: Any) -> Vector:
        for i, v in enumerate(other.values):
            self.values[i] += v
        return self

    def __abs__(self) -> Any:
        return (self @ self) ** 0.5

    def __getitem__(self, i: Any) -> Any:
        return self.values[i]

    def __setitem__(self, i: Any, v: Any) -> None:
        self.values[i] = v

    def __delitem__(self, i: Any) -> None:
        del self.values[i]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values)

    def __contains__(self, v: Any) -> bool:
        return v in self.values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and self.values == other.values

    def __hash__(self) -> int:
        return hash(tuple(self.values))

    def __lt__(self, other: Vector) -> bool:
        return abs(self) < abs(other)

    def __bool__(self) -> bool:
        return any(self.values)

    def __call__(self, v: Any) -> Any:
        return self.values[0] + self.values[1] * v

    def __float__(self) -> Any:
        return float(abs(self))

    def __format__(self, spec: str) -> str:
        return ", ".join(format(v, spec) for v in self.values)

    def __pow__(self, n: Any) -> Vector:
        return Vector(*[v**n for v in self.values])

    def __reversed__(self) -> Any:
        return iter(self.values[::-1])


@programs(2.0, 0.5)
def operator_overloads(x, y):
    u, v = Vector(x, y), Vector(1.0, x * y)
    w = 2.0 * (u + v * x) + -u**2
    alias = w
    w += u
    w[0] *= y
    return (w @ alias) * abs(u) + w[1] * u(x) + float(u)


@programs(Vector(2.0, 0.5, 1.5))
def container_protocol(v):
    v[1] = v[0] * v[2]
    total = sum(w * w for w in v) * len(v)
    first, *rest = v
    if v and v[2] in v and v == Vector(*v) and Vector(0.1, 0.1) < v and f"{v:.1f}":
        total += first * sum(rest) + list(reversed(v))[0]
    del v[0]
    return total * v[0]


@programs(2.0, 3.0)
def sorted_objects(x, y):
    a, b = Vector(x, 1.0), Vector(y, x)
    low, high = sorted([b, a])
    return low[0] * high[1] + max([a, b])[0] * min([a, b], key=lambda v: v[0])[0]


class Countdown:
    """An iterator written in Python."""

    def __init__(self, value: Any, n: int) -> None:
        self.value = value
        self.n = n

    def __iter__(self) -> Countdown:
        return self

    def __next__(self) -> Any:
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.value = self.value * 1.5
        return self.value


class BySequence:
    """Iterated through ``__getitem__``."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, i: int) -> Any:
        if i > 2:
            raise IndexError(i)
        return self.value**i


@programs(2.0)
def iterators_in_python(x):
    total = sum(Countdown(x, 3)) + sum(v * v for v in Countdown(x, 2))
    it = Countdown(x * x, 2)
    total += next(it) * next(it) + next(it, x)
    a, b = Countdown(x, 2)
    return total + a * b + sum(BySequence(x)) + list(zip(Countdown(x, 2), [1.0, x]))[1][0]


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
    """Attributes found and stored by hand."""

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


@dataclasses.dataclass
class Cell:
    """Mutable, with defaults and a derived field."""

    mass: Any
    state: Any
    log: list[Any] = dataclasses.field(default_factory=list)
    label: str = "cell"
    momentum: Any = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.momentum = self.mass * self.state

    def move(self, dt: Any) -> None:
        self.state += dt * self.momentum
        self.log.append(self.state)


@dataclasses.dataclass(frozen=True)
class Rates:
    growth: Any
    decay: Any = 0.5

    @property
    def balance(self) -> Any:
        return self.growth - self.decay


@dataclasses.dataclass(slots=True)
class Compact:
    a: Any
    b: Any = 1.0


@dataclasses.dataclass(frozen=True)
class Checked:
    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", self.value * 2)


@programs(2.0, 0.5)
def dataclasses_made_inside(x, y):
    c = Cell(x, y)
    c.move(y)
    r = Rates(x)
    s = dataclasses.replace(r, decay=x * y)
    k = Compact(x)
    k.b *= k.a + y
    return (c.log[0] * c.momentum + s.balance * r.balance + k.b + Checked(x).value
            + dataclasses.asdict(s)["decay"] + dataclasses.astuple(r)[0])


@programs(Cell(2.0, 0.5))
def mutable_dataclass_argument(c):
    c.move(c.mass)
    c.mass = c.state * c.momentum
    return c.mass * c.log[0]


@programs(Cell(2.0, X))
def dataclass_with_array_argument(c):
    c.move(0.1)
    return np.sum(c.log[0] * c.momentum)


@programs(Rates(2.0, X))
def frozen_dataclass_argument(r):
    a = r.decay
    a *= r.growth
    return np.sum(r.balance * r.decay)


@programs([Rates(2.0), Rates(1.0, 3.0)])
def frozen_dataclasses_in_a_list(rates):
    rates[0] = Rates(rates[1].decay * rates[0].growth)
    return sum(r.balance**2 for r in rates)


@programs(Compact(2.0, 3.0))
def slotted_dataclass_argument(k):
    k.a *= k.b
    return k.a * k.b


@programs(2.0)
def copies(x):
    s = Spring(x, [x, {"k": x * x}])
    shallow, deep = copy.copy(s), copy.deepcopy(s)
    s.position[0] = 100.0
    s.stiffness = 7.0
    return (shallow.stiffness * deep.position[0] + shallow.position[0]
            + deep.position[1]["k"] * deep.stiffness)


@programs(X)
def copies_of_arrays(a):
    b, c, d = copy.copy(a), copy.deepcopy([a, a]), a.copy()
    a *= 2
    c[0] *= 3
    return np.sum(b * d * c[1]) + np.sum(a)


@programs(2.0)
def cyclic_objects(x):
    a, b = Spring(x, None), Spring(x * x, None)
    a.position, b.position = b, a
    return a.position.position.stiffness * a.position.stiffness


@programs(2.0)
def namespace_and_function_attributes(x):
    n = types.SimpleNamespace(a=x, b=2.0)
    n.b *= n.a

    def f(v):
        return v * f.scale

    f.scale = x * 3
    return n.b * f(x)


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


class Model:
    """A callable object holding parameters, with a list of layers."""

    def __init__(self, weights: list[Any]) -> None:
        self.weights = weights
        self.calls = 0

    def __call__(self, v: Any) -> Any:
        self.calls += 1
        for w in self.weights:
            v = np.tanh(w @ v)
        return v


@programs(Model([np.eye(3) * 0.5, np.arange(9.0).reshape(3, 3) * 0.1]), X)
def callable_object_with_parameters(model, a):
    return np.sum(model(model(a))) + model.calls


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def test_class_attribute_is_restored() -> None:
    assert Spring.gravity == 9.8
    np.testing.assert_array_equal(Spring.shared, [1.0, 2.0, 3.0])


class Scaled:
    def __init__(self, factors: np.ndarray) -> None:
        self.parts = {"factors": [factors]}


def scaled(x: np.ndarray, scale: Scaled) -> Any:
    return np.sum(x * scale.parts["factors"][0])


@from_vjp(scaled)
def scaled_with_pullback(x: np.ndarray, scale: Scaled) -> Any:
    return scaled(x, scale), lambda dy: dy * scale.parts["factors"][0]


def test_array_in_an_object_that_a_pullback_reads_is_as_it_was() -> None:
    def f(x: np.ndarray) -> Any:
        scale = Scaled(np.ones(2))
        y = scaled(x, scale)
        scale.parts["factors"][0][0] = 5.0
        return y

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [1.0, 1.0])
