"""Objects with operators, and those that act as containers or iterators."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B905, RUF015

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.errors import MissingRuleError, MooncakeError
from tests.support.gradients import Program, Programs
from tests.support.pairs import pairwise

programs = Programs()


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
    w = 2.0 * (u + v * x) + -(u**2)
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


class Field:
    """An array that is changed in place, by arrays too."""

    def __init__(self, cells: Any) -> None:
        self.cells = cells

    def __add__(self, other: Any) -> Field:
        return Field(self.cells + other)

    def __iadd__(self, other: Any) -> Field:
        self.cells += other
        return self

    def __imul__(self, other: Any) -> Field:
        self.cells *= other
        return self


@programs(np.array([0.7, -1.2, 0.8]), np.array([1.1, 0.6, -0.7]))
def arrays_that_change_objects_in_place(x, w):
    field = same = Field(x)
    field += w
    field += w * x
    field *= w[::-1]
    fields = [field, w]
    for k in range(2):
        fields[k] += x * 0.5
    assert field is same
    return np.sum(same.cells * x * w)


class Account:
    """Reading what is due, and multiplying it, changes the balance."""

    def __init__(self, balance: Any) -> None:
        self.balance = balance

    @property
    def due(self) -> Any:
        self.balance = self.balance * 2.0
        return self.balance

    def __mul__(self, other: Any) -> Any:
        self.balance = self.balance + 1.0
        return other


@programs(2.0)
def values_that_change_what_they_are_added_to(x):
    account = Account(x)
    account.balance += account.due
    account.balance -= account.due * x
    account.balance *= account * x
    account.balance += account * x + (x * x)
    return account.balance * x


class Joinable(type):
    """Classes that may be added to one another, unlike their instances."""

    def __add__(cls, other: Any) -> Any:
        raise AssertionError("an operator of classes")


class Joined(metaclass=Joinable):
    def __init__(self, value: Any) -> None:
        self.value = value


class Reflected:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __ror__(self, other: Any) -> Any:
        return self.value * getattr(other, "value", other)

    __radd__ = __ror__


@programs(2.0)
def operators_that_only_the_class_of_the_class_has(x):
    return (2.0 | Reflected(x)) + (Joined(x) | Reflected(x)) + (Joined(x) + Reflected(x)) * x


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


SPAN = datetime.timedelta(seconds=2)


def moment(v):
    start = now = datetime.datetime(2020, 1, 1)
    now += SPAN * v
    return (now - start).total_seconds()


@pytest.mark.parametrize(
    ("f", "v", "mode"),
    pairwise(
        [
            lambda v: (SPAN * v).total_seconds(),
            lambda v: (v * SPAN).total_seconds(),
            lambda v: (SPAN / v).total_seconds(),
            moment,
        ],
        [0.4, np.array(0.4), np.float64(0.4)],
        ["reverse", "forward"],
    ),
)
def test_spans_of_time_of_active_numbers_are_refused(f, v, mode):
    f(v)
    with pytest.raises(MissingRuleError, match="no rule for operator"):
        grad(f, mode=mode)(v)


def test_constant_spans_of_time():
    f = lambda v: SPAN.total_seconds() * v + (SPAN * int(v)).total_seconds() * v  # noqa: E731
    assert grad(f)(3.5) == 8.0


class Scaled:
    """It is asked by numbers on its left, and tells which number that is."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __rmul__(self, number: Any) -> Any:
        return number * self.value * (2.0 if type(number) is float else 3.0)


class Items:
    """NumPy makes an array of it, and asks it nothing."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, i: Any) -> Any:
        return self.values[i]

    def __rmul__(self, number: Any) -> Any:
        return [number * 7.0 * v for v in self.values]


class Prior(Scaled):
    """NumPy leaves the operation to it."""

    __array_priority__ = 10.0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.float64(2.0) * Scaled(x)),
        lambda x: np.sum(np.int64(2) * Scaled(x) * np.True_),
        lambda x: x[0] * Scaled(x[1]),
        lambda x: x[0] * Scaled(2.0) + x[1] * Prior(3.0),
        lambda x: np.float32(x[0]) * Scaled(0.1) * np.float64(x[1]),
        lambda x: np.sum(np.float64(2.0) * Items(x[0], 3.0)) * x[1],
        lambda x: (x[0] * Items(1.0, x[1]))[1],
        lambda x: x[0] * Fraction(1, 3) + abs(x[1]) ** Fraction(3, 2) + Fraction(7, 3) % x[0],
    ],
)
def test_numbers_of_numpy_ask_objects_as_numbers_of_python(f: Any) -> None:
    x = np.array([0.4, 1.3])
    for derivative in (value_and_grad(f), value_and_grad(f, debug=True)):
        value, found = derivative(x)
        assert (type(value), value) == (type(f(x)), f(x))
        steps = 1e-6 * np.eye(2)
        if "float32" not in f.__code__.co_names:
            expected = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
            np.testing.assert_allclose(found, expected, rtol=1e-7)
        y, slope = jvp(f, (x,), (np.array([1.0, 0.5]),))
        assert (type(y), y) == (type(value), value)
        np.testing.assert_allclose(slope, found @ [1.0, 0.5], rtol=1e-6)


class Growing:
    """Its comparison changes it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __gt__(self, number: Any) -> bool:
        self.value = self.value * 2.0
        return True

    def __add__(self, number: Any) -> Any:
        return Growing(self.value + number)

    def __rmatmul__(self, number: Any) -> Any:
        return number * self.value


def grows(x: Any) -> Any:
    growing = Growing(x)
    return np.sum(growing.value) * (1.0 + (np.float64(2.0) < growing)) + np.sum(growing.value)


def grows_for_an_array(x: Any) -> Any:
    growing = Growing(x)
    return np.sum(growing.value) * np.sum(np.array([2.0]) < growing)


def test_scalars_of_numpy_ask_objects_and_arrays_in_compiled_code_are_refused() -> None:
    x = np.array([0.4, 1.3])
    for mode in ("reverse", "forward"):
        np.testing.assert_array_equal(grad(grows, mode=mode)(x), [4.0, 4.0])
        with pytest.raises(MooncakeError):
            grad(grows_for_an_array, mode=mode)(x)


def test_products_of_matrices_ask_with_the_number_itself() -> None:
    def f(x):
        return np.sum(np.float64(2.0) @ Growing(x))

    assert grad(f)(np.array([0.4, 1.3])).tolist() == [2.0, 2.0]
