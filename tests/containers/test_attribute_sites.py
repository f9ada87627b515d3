"""Reads and writes of attributes at one place, of objects of several classes."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad
from mooncake_py.containers.attribute_sites import MOST


class Plain:
    def __init__(self, v):
        self.v = v


class Further(Plain):
    pass


class Slotted:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


class Doubled(Plain):
    @property
    def v(self):
        return 2.0 * self.own

    @v.setter
    def v(self, value):
        self.own = 3.0 * value


class Lazy:
    def __init__(self, v):
        self.__dict__["_v"] = v

    def __getattr__(self, name):
        if name != "v":
            raise AttributeError(name)
        return self._v * 0.5

    def __setattr__(self, name, value):
        self.__dict__["_v"] = value * value


KINDS = [Plain, Further, Slotted, Doubled, Lazy]


def through(x, kinds):
    total = 0.0
    for _ in range(3):
        for kind in kinds:
            o = kind(x)
            for k in range(3):
                o.v = o.v * x + k
                o.v += 0.1 * x
                y = o.v * 0.25 + o.v
                total = total + y
    return total


def difference(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2.0 * h)


@pytest.mark.parametrize("turn", range(len(KINDS)))
def test_classes_take_turns_at_a_place(turn):
    kinds = KINDS[turn:] + KINDS[:turn]

    def f(x):
        return through(x, kinds)

    value, g = value_and_grad(f)(0.6)
    assert value == f(0.6)
    assert_allclose(g, difference(f, 0.6), rtol=1e-6)
    assert_allclose(jvp(f, (0.6,), (1.0,))[1], g, rtol=1e-12)
    assert_allclose(hvp(f, (0.6,), 1.0), difference(grad(f), 0.6), rtol=1e-5)


def test_more_classes_than_are_served():
    kinds = [type(f"Kind{k}", (Plain,), {}) for k in range(MOST + 4)]
    kinds.insert(3, Doubled)

    def f(x):
        return through(x, kinds)

    assert_allclose(grad(f)(0.6), difference(f, 0.6), rtol=1e-6)


def test_a_class_that_is_patched_between_its_turns():
    def f(x, patches):
        class Own(Plain):
            pass

        total = 0.0
        for k in range(6):
            for o in (Plain(x), Further(x), Own(x)):
                total = total + o.v * x + o.v
            if k == 2 and patches:
                Own.v = property(lambda self: 2.0 * self.w, lambda self, v: setattr(self, "w", v))
        return total

    assert_allclose(grad(f)(1.5, False), 18.0 * (2.0 * 1.5 + 1.0))
    assert_allclose(grad(f)(1.5, True), 21.0 * (2.0 * 1.5 + 1.0))
    assert_allclose(grad(f)(1.5, False), 18.0 * (2.0 * 1.5 + 1.0))


def test_an_attribute_that_is_missing_is_read_in_its_turn():
    class Telling:
        def __init__(self, told):
            self.told = told

        def __mul__(self, other):
            self.told.append("mul")
            return other

    def f(x):
        o, y, told = Plain(x), 0.0, []
        for k in range(4):
            if k == 3:
                del o.v
            a = Telling(told) if k == 3 else x
            try:
                y = y + a * x + o.v
            except AttributeError:
                y = y * 2.0
            try:
                y = y + x * o.v
            except AttributeError as error:
                told.append(error.name)
        assert told == ["mul", "v"]
        return y

    assert_allclose(value_and_grad(f)(0.5), (f(0.5), difference(f, 0.5)), rtol=1e-6)
