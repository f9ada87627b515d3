"""What an object is, and its attributes by their names, while a function is read."""

from __future__ import annotations

import collections.abc
import numbers
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4])


class Base:
    scale = 2.0

    def __init__(self, rate):
        self.rate = rate


class Derived(Base):
    def twice(self):
        return 2.0 * self.rate


def of_class(x, o):
    if isinstance(o, Base) and not isinstance(o, (str, dict)):
        s = o.rate * x[0]
    elif isinstance(o, (int, float)):
        s = o * x[0] ** 2
    elif isinstance(o, (numbers.Number, collections.abc.Sequence)):
        s = np.sum(x) * len(o)
    else:
        s = np.sin(x[1]) if o is None else np.sum(o * x)
    if type(o) is Derived or type(o) == Base:  # noqa: E721
        s *= x[2]
    if issubclass(type(o), Derived) and callable(o.twice):
        s += o.twice()
    if isinstance(x, np.ndarray) and isinstance(s, float) and not callable(x):
        s += x[1] * x[2]
    if hasattr(o, "rate") and not hasattr(o, "other") and hasattr(x, "shape"):
        s *= getattr(o, "rate") + getattr(o, "other", 0.5) * o.scale  # noqa: B009
    return s


OTHERS = [Base(2.0), Derived(0.5), 3.0, 2, "ab", (1.0, 2.0), None, X[::-1].copy()]


@pytest.mark.parametrize("o", OTHERS)
def test_classes_decide_branches(o: Any, tried: list[bool]) -> None:
    agrees_compiled(of_class, tried, X, o)


def test_another_class_is_read_again(tried: list[bool]) -> None:
    for o in (*OTHERS[:4], OTHERS[0]):
        agrees(of_class, X, o)


def by_name(x, o):
    for name, value in (("rate", x[0]), ("speed", x[1] * x[2])):
        setattr(o, name, value)
    o.rate *= 2.0
    return getattr(o, "rate") * o.speed  # noqa: B009


def test_attributes_by_their_names(tried: list[bool]) -> None:
    def f(x):
        return by_name(x, Base(1.0))

    agrees_compiled(f, tried, X)


def bound_on_one_side(x):
    o = Base(x[0])
    if x[1] > 0.0:
        o.scale = x[1] * 3.0
    return o.rate * o.scale


def asked_on_one_side(x):
    o = Base(x[0])
    if x[1] > 0.0:
        o.speed = x[1] * 3.0
    return o.rate * (o.speed if hasattr(o, "speed") else 2.0)


def bound_in_a_loop(x):
    o, s = Base(x[0]), 0.0
    for v in x:
        s += v * o.scale
        o.scale = v * v
    return s


def asked_in_a_loop(x):
    o, s = Base(x[0]), 0.0
    for v in x:
        if not hasattr(o, "best"):
            o.best = v * v
        s += v * o.best
    return s


UNSURE = [bound_on_one_side, asked_on_one_side, bound_in_a_loop, asked_in_a_loop]


@pytest.mark.parametrize("f", UNSURE)
def test_attributes_that_an_object_has_only_at_times(f: Any, tried: list[bool]) -> None:
    for x in (X, -X):
        agrees(f, x)


class Meta(type):
    def __instancecheck__(cls, o):
        return True


class Equal(type):
    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__


class One(metaclass=Equal):
    pass


class Two(metaclass=Equal):
    pass


def of_classes_that_are_equal(x):
    return x[0] if issubclass(Two, One) else x[1] ** 2


def test_bases_are_told_apart_whatever_a_metaclass_calls_equal(tried: list[bool]) -> None:
    agrees_compiled(of_classes_that_are_equal, tried, X)


class Everything(metaclass=Meta):
    pass


def of_a_class_that_decides(x):
    return x[0] if isinstance(x, Everything) else x[1]


def test_classes_that_decide_themselves_are_left(tried: list[bool]) -> None:
    agrees(of_a_class_that_decides, X)
    assert report(of_a_class_that_decides)[0].found == "not compiled"
