"""Classes, functions and modules that a derivative has met are freed like any others."""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import gc
import linecache
import weakref
from collections.abc import Callable
from importlib.util import find_spec
from itertools import count
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mooncake_py import build_rrule, checkpoint, grad, hvp, jvp, vjp
from mooncake_py.remembered import Table, remembered

pytestmark = pytest.mark.without_modes("a record keeps alive what must go")

WAYS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(3.0),
    "vjp": lambda f: vjp(f, 3.0)[1](1.0),
    "jvp": lambda f: jvp(f, (3.0,), (1.0,)),
    "hvp": lambda f: hvp(f, (3.0,), 1.0),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(3.0),
    "debug": lambda f: grad(f, debug=True)(3.0),
    "rule": lambda f: build_rrule(f, 3.0),
}
if find_spec("llvmlite") is not None:
    WAYS["compile"] = lambda f: grad(f, compile=True)(3.0)

Made = tuple[list[Any], Callable[[Any], Any]]
numbers = count()


def plain_class() -> Made:
    class Point:
        def __init__(self, v):
            self.v = v

        def energy(self, x):
            total = 0.0
            for k in range(4):
                total = total + self.v * x * k
            return total

    p = Point(2.0)
    return [Point, p], lambda x: Point(x).v * x + p.energy(x)


def class_that_names_itself() -> Made:
    class Base:
        def __init__(self, v):
            self.v = v

        def __eq__(self, other):
            return self.v == other.v

        def __hash__(self):
            return 7

    class Key(Base):
        def __eq__(self, other):
            return super().__eq__(other)

        def __hash__(self):
            return super().__hash__()

        def __repr__(self):
            return f"{Key.__name__}({self.v!r})"

    return [Base, Key], lambda x: {Key(1): x * x}[Key(1)] * len(str(Key(1)))


def dataclass_with_properties() -> Made:
    @dataclasses.dataclass
    class Sides:
        a: float
        b: float = 2.0

        @property
        def area(self):
            return self.a * self.b

    return [Sides], lambda x: Sides(x).area * x


def classes_of_the_library() -> Made:
    class Kind(enum.Enum):
        A = 1

    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self, x): ...

    class Square(Shape):
        def area(self, x):
            return x * x

    return [Kind, Shape, Square], lambda x: Square().area(x) * Kind.A.value


def class_of_arrays() -> Made:
    class Marked(np.ndarray):
        def __array_finalize__(self, o):
            self.mark = getattr(o, "mark", 1.0)

    return [Marked], lambda x: np.sum(np.asarray(np.array([1.0, 2.0]).view(Marked) * 2.0)) * x


def classes_that_numpy_reads() -> Made:
    class Rows:
        def __len__(self):
            return 3

        def __getitem__(self, k):
            if k >= 3:
                raise IndexError
            return 1.0 * k

    class Converted:
        def __array__(self, dtype=None, copy=None):
            return np.ones(2)

    return [Rows, Converted], lambda x: (np.sum(Rows()) + np.sum(np.add(Converted(), 1.0))) * x


def functions() -> Made:
    large = np.ones(100)

    def scaled(y, by=large):
        return y * by[0] * large[1]

    @functools.cache
    def known(y):
        return y * large[0]

    def f(x):
        total = 0.0
        for _ in range(3):
            total = total + scaled(x) * known(2)
        return total + functools.partial(scaled, by=large)(x) + applied(x, scaled)

    return [scaled, known, f], f


def applied(x, f):
    total = 0.0
    for _ in range(3):
        total = total + f(x)
    return total


MODULE = """
import numpy as np
LARGE = np.ones(100)
class Point:
    def __init__(self, v): self.v = v
def scaled(y): return Point(y).v * LARGE[0] * own.LARGE[1]
def f(x): return scaled(x) * x + own.f_of(x)
def f_of(x): return x * x
"""


def module() -> Made:
    own: Any = ModuleType("short_lived")
    name = f"<short-lived module {next(numbers)}>"
    linecache.cache[name] = len(MODULE), None, MODULE.splitlines(True), name
    own.own = own
    exec(compile(MODULE, name, "exec"), own.__dict__)
    weakref.finalize(own, linecache.cache.pop, name)
    return [own, own.Point, own.scaled, own.f.__code__], own.f


MAKERS = (
    plain_class, class_that_names_itself, dataclass_with_properties, classes_of_the_library,
    class_of_arrays, classes_that_numpy_reads, functions, module,
)  # fmt: skip


def left_of(make: Callable[[], Made], way: Callable[[Any], Any], times: int) -> list[Any]:
    """Return the live objects among those made for each of several derivatives."""
    references = []
    for _ in range(times):
        objects, f = make()
        way(f)
        references += map(weakref.ref, [*objects, f])
        del objects, f
    gc.collect()
    return [r() for r in references if r() is not None]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_what_derivatives_have_met_is_freed(make):
    for name, way in WAYS.items():
        assert left_of(make, way, 2) == [], name


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_a_thousand_derivatives_leave_nothing(name):
    for make in MAKERS:
        assert left_of(make, WAYS[name], 1000 // len(MAKERS)) == []


def test_what_is_known_of_an_object_is_forgotten_with_it():
    calls = []

    class Thing:
        pass

    @remembered
    def known(o):
        calls.append(o is not None)
        return

    thing = Thing()
    assert known(thing) is known(thing) is None
    assert len(calls) == 1
    assert left_of(lambda: ([Thing()], Thing()), known, 3) == []


def test_methods_of_what_is_never_freed_are_known_by_value():
    calls = []

    @remembered
    def known(o):
        calls.append(0)
        return o.__name__

    assert known(np.add.reduce) == known(np.add.reduce) == "reduce"
    assert len(calls) == 1
    a = np.ones(3)
    assert known(a.sum) == known(a.sum) == "sum"
    assert len(calls) == 3  # nothing keeps the array


def test_a_table_takes_what_has_no_weak_references():
    table: Table[int] = Table()
    table.set(3, 1)
    assert table.found == {}
    table.set(Table, 1)
    assert table.found == {id(Table): 1}
    table.clear()
    assert not table.found


@pytest.mark.parametrize("f", [np.ndarray.sum, list.__add__, dict.__dict__["fromkeys"], np.sum])
def test_functions_in_c_without_weak_references_are_looked_at_once(f: Any) -> None:
    """Reading the signature of ``np.ndarray.sum`` takes 50 times as long as the sum."""
    seen: list[Any] = []
    look = remembered(seen.append)
    look(f)
    look(f)
    assert seen == [f]
