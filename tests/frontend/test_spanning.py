"""Statements over several lines: one entry like those on one line, and errors at the right line."""

from __future__ import annotations

import math
import traceback

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, rewritten, value_and_grad
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.test_elements import ARGS, entries
from tests.compiler.statements.test_expressions import differences, gradient

# The layout of the programs is the point of them.
# ruff: noqa: F821, F841, RET504


def floats(x, w):
    a = (x[0] * w[1]
         - math.sin(x[1])
         / (w[0] + 3.0))
    b: float = (a * a
                + x[2] * a)
    a -= (0.5 * b
          * w[2])
    c = d = (a * b
             - 2.0)
    return (a * b
            + c * d
            - x[3])


def arrays(x, w):
    y = (x * w
         + np.exp(-x)
         * 0.5)
    y[1:] += (y[:-1] * 0.1
              - w[1:])
    y[:2] = (x[2:]
             * w[:2] + y[:2])
    y *= (w * 0.5
          + x)
    for i in range(1, 4):
        x[i] = (y[i] * x[i - 1]
                + w[i])
        w[i] -= (0.5 * x[i]
                 * w[i - 1])
    return np.sum(
        x * y
        + w * w
    )


def lists(x, w):
    kept = [x[0], w[1] * 2, x[2]]
    kept[1] = (kept[0] * kept[2]
               + kept[1])
    total = 0.0
    total += (kept[1] * kept[0]
              - kept[2])
    scale = (3
             * len(kept))
    return (total * scale
            + np.sum(x * w))


def in_a_loop_that_returns(x, w):
    for i in range(4):
        s = (x[i] * w[i]
             + x[0])
        if s > 0.4:
            return (s * s
                    + w[0])
    return (x[0]
            * x[1])


class Body:
    factor = 0.5

    def __init__(self, x, w):
        self.x = x
        self.w = w
        self.speed = x[0] * w[1]
        self.angle = w[2]
        self.__hidden = 2.0

    def step(self, dt):
        self.speed -= dt * math.sin(self.angle) * self.factor
        self.angle = self.angle + dt * self.speed * self.__hidden
        for i in range(1, 3):
            self.x[i] = self.x[i - 1] * self.angle - self.w[i] * np.pi
            self.x[i] += self.w[i] * self.speed
        self.w -= 0.1 * self.x * self.speed
        self.w[1:] *= self.x[:-1] - self.factor
        self.__hidden = self.__hidden * self.speed + 1.0

    def total(self):
        return self.speed * self.angle + np.sum(self.x * self.w) * self.__hidden


def attributes(x, w):
    body = Body(x, w)
    alias = body.w
    body.step(0.1)
    body.step(0.2)
    return body.total() + np.sum(alias * x)


class Place:
    """An index whose arithmetic can be seen."""

    def __init__(self, i):
        self.i = i
        self.asked = 0.0

    def __add__(self, k):
        self.asked += 1.0
        return self.i + k

    def __neg__(self):
        self.asked += 1.0
        return -self.i


def indices_with_effects(x, w):
    body = Body(x, w)
    place, i = Place(1), x.shape[0] - 3
    for k in (place, i):
        body.x[k + 1] = body.w[k + 1] * body.x[-k] - body.angle
        body.w[k + 1 :] += body.x[k + 1 :] * body.speed
        y = (x[k + 1] * w[-k]
             + x[0])
        x[k + 1] -= (y * x[0]
                     + w[k + 1])
    try:
        body.x[i // 0] = body.w[0] * body.speed
    except ZeroDivisionError:
        w[0] = w[1] * body.angle
    return np.sum(x * w) * place.asked


@pytest.mark.parametrize(
    "f",
    [floats, arrays, lists, in_a_loop_that_returns, attributes, indices_with_effects],
    ids=lambda f: f.__name__
)
def test_statements_over_lines_equal_the_general_way_and_differences(f, monkeypatch):
    args = tuple(a.copy() for a in ARGS)
    value, fused = gradient(f, args, (0, 1))
    again = gradient(f, args, (0, 1))[1]
    repeated = gradient(lambda x, w: checkpoint(f, x, w), args, (0, 1))[1]
    monkeypatch.setattr(ReverseContext, "fuses", False)
    reference, general = gradient(f, args, (0, 1))
    assert value == reference == f(*(a.copy() for a in ARGS))
    for k, (a, b, c, d) in enumerate(zip(fused, general, again, repeated, strict=True)):
        assert_allclose(a, b, rtol=1e-12, atol=1e-13)
        assert_array_equal(c, a)
        assert_allclose(d, a, rtol=1e-12)
        assert_allclose(a, differences(f, args, k), rtol=1e-6, atol=1e-7)
    for a, b in zip(args, ARGS, strict=True):
        assert_array_equal(a, b)


def test_one_entry_records_a_statement_over_lines():
    def name(x, w):
        s = (x[0] * w[1]
             + x[1] * w[0])
        return s

    def augmented(x, w):
        s = 0.0
        s += (x[0]
              * w[1])

    def store(x, w):
        x[0] = (x[1] * w[0]
                + w[1])

    def slices(x, w):
        x[1:] += (w[:-1] * 2.0
                  - w[1:])

    def array(x, w):
        return (x * w
                + x)

    for f in (name, augmented, store, slices, array):
        assert entries(f, *map(np.copy, ARGS)) == 1


def test_one_entry_records_a_statement_on_attributes():
    class Pair:
        def __init__(self, x, w):
            self.x, self.w = x, w

    def runs(n):
        def elements(x, w):
            pair = Pair(x, w)
            for _ in iter(range(n)):
                pair.x[0] = pair.x[1] * pair.w[0] + pair.w[1] * 2.0

        return entries(elements, *map(np.copy, ARGS))

    assert runs(6) - runs(5) == 1


def test_code_of_attributes_runs_once_for_each_read_and_in_order():
    class Loud:
        def __init__(self, value):
            self.value = value
            self.calls = []

        @property
        def x(self):
            self.calls.append("x")
            return self.value

        @property
        def y(self):
            self.calls.append("y")
            return self.value * 2.0

        def __getattr__(self, name):
            self.calls.append(name)
            return 3.0

    class Rebinding:
        def __init__(self, owner):
            self.owner = owner

        def __mul__(self, other):
            self.owner.weight = 10.0
            return other * 2.0

    class Plain:
        weight = 1.0

    def f(a):
        loud = Loud(a)
        plain = Plain()
        factor = Rebinding(plain)
        total = 0.0
        for _ in range(3):
            total += loud.y * loud.x - loud.z
            total = total * loud.x + loud.x
            plain.weight = a * a
            total = total + (factor * a + plain.weight)
        return total, tuple(loud.calls)

    (value, calls), g = value_and_grad(f, has_aux=True)(0.7)
    expected, order = f(0.7)
    assert (value, calls) == (expected, order)
    assert_allclose(g, (f(0.7 + 1e-6)[0] - f(0.7 - 1e-6)[0]) / 2e-6, rtol=1e-7)


def test_an_attribute_that_is_missing_raises_as_in_the_plain_call():
    class Box:
        pass

    def f(x):
        box = Box()
        for i in range(3):
            box.a = x * 1.0
            if i == 2:
                del box.a
            y = box.a * x + x
        return y

    plain = line_of_error(lambda: f(1.0))
    assert line_of_error(lambda: value_and_grad(f)(1.0)) == plain
    assert plain[0] is AttributeError


def test_the_class_of_an_attribute_may_change_between_two_runs_of_a_statement():
    class First:
        def __init__(self, v):
            self.v = v

    class Second(First):
        v = property(lambda self: self.held * 5.0, lambda self, v: setattr(self, "held", v))

    def f(x):
        total = 0.0
        for cls in (First, First, Second, First, Second):
            total = total + cls(x).v * x
        return total

    assert value_and_grad(f)(2.0) == (13 * 4.0, 13 * 4.0)


def line_of_error(run):
    try:
        run()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return type(error), str(error), frames[-1].name, frames[-1].lineno
    raise AssertionError("nothing was raised")


def test_an_error_names_the_line_of_its_operation():
    def division(x):
        y = (x * 2.0
             + x
             / (x - x))
        return y

    def text(x):
        word = "a"
        return (x * 2.0
                + x
                - word
                * x)

    def shapes(x):
        y = np.ones(3) * x
        y[1:] = (y[:2]
                 * 2.0
                 + y)
        return y[0]

    def unbound(x):
        y = (x
             * 2.0
             + z)
        z = 1.0
        return y

    for f in (division, text, shapes, unbound):
        plain = line_of_error(lambda f=f: f(1.0))
        assert line_of_error(lambda f=f: value_and_grad(f)(1.0)) == plain


def test_what_the_rewritten_code_looks_like():
    def f(x):
        y = (x * x
             + 1.0)
        return y

    lines = [line.strip() for line in rewritten(f).splitlines()]
    assert "tried = C.fused(x * x + 1.0)" in lines
    assert "y = C.add(C.mul(x, x), 1.0)" in lines
