"""Enumerations, comparisons, powers, named tuples, managers, errors, built-in functions."""

from __future__ import annotations

import enum
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()
LOG: list[Any] = [1.0]
POINT = namedtuple("POINT", "x y")


class State(NamedTuple):
    x: Any
    y: Any = 1.0

    def grown(self, by):
        return self._replace(x=self.x * by)


class Own(State):
    @classmethod
    def _make(cls, items):
        return super()._make([v * 2.0 for v in items])


class Colour(enum.Enum):
    RED = 1
    BLUE = 2.5
    CRIMSON = 1

    def scaled(self, x):
        return self.value * x

    @property
    def twice(self):
        return self.value * 2


class Planet(enum.Enum):
    EARTH = (5.0, 6.0)
    MARS = (0.6, 3.0)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Same:
    pass


class Equal:
    def __init__(self, v):
        self.v = v

    def __eq__(self, o):
        return isinstance(o, Equal) and self.v == o.v

    __hash__ = None  # type: ignore[assignment]


class Manager:
    def __init__(self, swallows=False):
        self.log = LOG
        self.swallows = swallows

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(kind.__name__ if kind else "out")
        return self.swallows


@program
def members_of_enumerations(x):
    total = 0.0
    for c in (Colour.RED, Colour.BLUE, Colour("".__len__() + 1), Colour["BLUE"]):
        if c is Colour.RED or c == Colour.CRIMSON:
            total = total + c.value * x
        elif c != Colour.RED and c in (Colour.BLUE,):
            total = total + c.scaled(x) + c.twice * x + len(c.name)
    for p in Planet:
        total = total + p.mass * x / p.radius * len(p.name)
    return total + Level.HIGH * x + (Level.LOW < Level.HIGH) * x + Planet.EARTH.value[0]


@program.changes
def members_that_change(x):
    total = 0.0
    for k in range(4):
        total = total + Planet.EARTH.mass * x
        Planet.EARTH.mass = 5.0 + k * x
    Planet.EARTH.mass = 5.0
    return total


@program
def attributes_of_classes(x):
    class Settings:
        rate = 2.0
        table = {"a": x}

    total = 0.0
    for k in range(4):
        total = total + Settings.rate * x + Settings.table["a"]
        Settings.rate = Settings.rate * x if k < 2 else 1.0
    del Settings.rate
    try:
        return total * Settings.rate
    except AttributeError:
        return total


@program
def attributes_that_metaclasses_find(x):
    class Meta(type):
        def __getattr__(cls, name):
            return x * len(name)

    class Found(metaclass=Meta):
        here = 2.0

    total = 0.0
    for _ in range(3):
        total = total + Found.here * x + Found.away
    del Found.here
    return total + Found.here


@program.changes
def property_that_becomes_a_descriptor(x):
    class Loud:
        def __get__(self, o, t=None):
            if o is None:
                LOG.append("read")
            return 3.0 * x

    class A:
        @property
        def p(self):
            return x * x

    o, total = A(), 0.0
    for k in range(5):
        total = total + o.p
        if k == 2:
            type.__setattr__(A, "p", Loud())
    return total + len(LOG) * x


@program
def operator_that_becomes_another(x):
    class A:
        def __add__(self, o):
            return x

        def __radd__(self, o):
            return x * 2

        def __len__(self):
            return 1

    a, total = A(), 0.0
    for k in range(6):
        total = total + (a + 1.0) + (2.0 + a) + len(a)
        if k == 2:
            A.__add__ = lambda self, o: x * o * 5  # type: ignore[method-assign]
            A.__len__ = lambda self: 4  # type: ignore[method-assign]
        if k == 4:
            A.__radd__ = A.__add__  # type: ignore[method-assign]
    return total


@program
def comparisons(x):
    a, b = Same(), Same()
    total = (a == b) + (a != b) * 2 + (a == a) * 4 + (a == None) * 8 + (None == None) * 16  # noqa: E711, PLR0124
    total += ((1, "a") == (1, "a")) * 32 + ([1, 2] < [1, 3]) * 64 + ((1, x) == (1, x)) * 128
    total += (Equal(x) == Equal(x)) * 256 + (Equal(1) != Equal(2)) * 512 + (a == Equal(1)) * 1024
    total += ((1, (2, x)) < (1, (2, x + 1))) * 2048 + ([Same] == [Same]) * 4096
    return total * x


@program
def comparisons_without_order(x):
    return ((1, "a") < (1, 2)) * x


@program
def comparison_by_a_class_whose_equality_comes_later(x):
    a, b, total = Same(), Same(), 0.0
    for k in range(4):
        total = total + (a == b) * x
        if k == 1:
            Same.__eq__ = lambda self, o: True  # type: ignore[method-assign,assignment]
    del Same.__eq__
    return total + x


@program
def powers(x):
    total = x**2 + x**3.0 + x**-1 + x**0 + x**1 + x**0.5 + 2.0**x + x**x + (-x) ** 3 + (x - 3) ** 2
    y = np.array([x, -x])
    return total + y[1] ** 2 + y[0] ** -1.5 + (x * 0.0) ** 2 + (x * 0.0) ** 1 + x**True


@program
def powers_without_a_real_value(x):
    return ((-x) ** 0.5).real


@program
def powers_that_overflow(x):
    return (x * 1e300) ** 2


@program
def powers_of_zero(x):
    return (x - x) ** -1


@program
def named_tuples(x):
    p = POINT(x, 2.0)
    s = State(x)
    for k in range(4):
        p = p._replace(y=p.y * x + k)
        s = s._replace(x=s.x * p.x, y=s.y + k).grown(x)
    a, b = s
    return p.x * p.y + a + b + Own(x, 2.0)._replace(x=x).y


@program
def named_tuple_without_such_a_field(x):
    return POINT(x, 1.0)._replace(z=x + 1.0).x


@program
def named_tuple_whose_method_is_replaced(x):
    class Own2(NamedTuple):
        x: Any

    p, total = Own2(x), 0.0
    for k in range(4):
        total = total + p._replace(x=p.x * x).x
        if k == 1:
            Own2._replace = lambda self, x: Own2(x * 10.0)  # type: ignore[method-assign,assignment]
    return total


@program.changes
def managers(x):
    total = 0.0
    for k in range(4):
        with Manager() as m:
            total = total + x * len(m.log)
        with Manager(swallows=k > 1):
            total = total + x
            if k > 1:
                raise ValueError(k)
    return total + len(LOG) * x


@program.changes
def manager_that_lets_errors_through(x):
    total = x
    for k in range(3):
        try:
            with Manager():
                total = total * x
                if k:
                    raise KeyError("a")
        except KeyError:
            total = total + LOG.count("KeyError") * x
    return total


@program.changes
def manager_whose_end_is_replaced(x):
    class Own(Manager):
        pass

    total = 0.0
    for k in range(4):
        with Own() as m:
            total = total + x * len(m.log)
            if k == 1:
                Own.__exit__ = lambda self, *details: LOG.extend([1, 2, 3])  # type: ignore[method-assign]
    return total + x * len(LOG)


@program
def managers_without_an_end(x):
    class Half:
        def __enter__(self):
            return x

    with Half() as y:  # type: ignore[attr-defined]
        return y


@program
def errors(x):
    class Own(ValueError):
        pass

    total = 0.0
    for k in range(6):
        try:
            if k % 3 == 0:
                raise Own(x * k)
            raise ValueError if k % 3 == 1 else KeyError("k", x)
        except Own as error:
            total = total + error.args[0]
        except ValueError as error:
            total = total + x + len(error.args)
        except KeyError as error:
            total = total + error.args[1] * x
    return total


@program
def counters(x):
    n, total = 0, 0.0

    def step(v):
        nonlocal n, total
        n += 1
        total = total + v * n
        return total

    for v in [x, 2.0, x]:
        step(v)
    return total * n


@program
def builtins_in_turn(x):
    total = 0.0
    for k in range(4):
        for f in (list, tuple, sorted, sum, max, len, type, callable, iter, reversed, id, repr):
            y = f([x, 2.0])
            total = total + (y if isinstance(y, float) else k * x)
        total = total + [isinstance, issubclass][k % 2]([x, int][k % 2], object) * x
    return total


@program
def builtins_given_too_much(x):
    total = 0.0
    for k in range(4):
        for f in (isinstance, getattr, type, zip, sorted, iter, dict, enumerate):
            try:
                f(*[x] * (k * 2))
            except (TypeError, ValueError) as error:
                total = total + len(str(error)) * x
    return total


@program
def builtins_that_are_shadowed(x):
    isinstance, total = type(x).__instancecheck__ if False else (lambda a, b: x), 0.0  # noqa: A001
    for k in range(4):
        total = total + isinstance(x, k)
        if k == 1:
            isinstance = __builtins__["isinstance"] if type(__builtins__) is dict else None  # noqa: A001
            return total + isinstance(x, float)
    return total
