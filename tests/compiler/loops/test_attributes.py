"""Loops that read and store attributes of objects, as one entry where nothing else takes part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hessian, jvp, value_and_grad
from mooncake_py.contexts import Context
from tests.compiler.comparing import agrees, equals_reference

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


class Body:
    drag = 0.1

    def __init__(self, x, v=0.0):
        self.x = x
        self.v = v


class Slotted:
    __slots__ = ("v", "x")

    def __init__(self, x, v=0.0):
        self.x = x
        self.v = v


@dataclass
class Record:
    x: float
    v: float = 0.0


class Empty:
    def __init__(self, **given):
        vars(self).update(given)


class Stepper:
    def __init__(self, x, field):
        self.__x = x
        self.field = field
        self.size = len(field)

    def run(self):
        for i in range(4):
            for j in range(self.size):
                if self.__x < 2.0:
                    self.__x += 0.1 * self.field[j]
            self.field[i] *= self.__x
        return self.__x * self.field[3]


def steps(body, n):
    for _ in range(n):
        body.v -= 0.1 * (body.x + 0.3 * body.v * body.v)
        body.x += 0.1 * body.v
    return body


# What is one entry.


@pytest.mark.plain
@pytest.mark.parametrize("kind", [Body, Slotted, Record])
def test_attributes_of_plain_instances(kind, taken):
    def f(x):
        body = steps(kind(x), 20)
        return body.x * body.v

    agrees(f, 1.2)
    assert taken == [True, True, False]


@pytest.mark.plain
def test_attributes_in_tests_ranges_and_arrays_of_self(taken):
    def f(x, field):
        return Stepper(x, field).run()

    agrees(f, 1.2, X)
    assert all(taken[:2])


@pytest.mark.plain
@pytest.mark.parametrize("mode", [grad, hessian])
def test_numbers_of_any_type_keep_it(mode, taken):
    def f(x):
        body = Body(1, np.float64(2.0))
        for i in range(5):
            if i > 7:
                body.v = 0.5
            body.x *= 3
        found = type(body.x), type(body.v)
        for _ in range(5):
            body.v *= x
        return body.v if found == (int, np.float64) else body.v * np.nan

    value = 10.0 * 1.5**4 if mode is grad else 40.0 * 1.5**3
    assert_allclose(mode(f)(1.5), value)
    assert any(taken)


@pytest.mark.plain
def test_in_forward_mode(taken):
    def f(x):
        body = steps(Body(x), 20)
        return body.x * body.v

    value, slope = jvp(f, (1.2,), (1.0,))
    assert value == f(1.2)
    assert_allclose(slope, grad(f)(1.2), rtol=1e-12)
    assert taken == [True, True]


@pytest.mark.plain
def test_objects_that_are_given_are_restored(taken):
    given = Body(1.25, -0.0)
    numbers = given.x, given.v

    def f(body):
        steps(body, 10)
        return body.x * body.v

    _, found = value_and_grad(f)(given)
    assert (given.x, given.v) == numbers
    assert given.x is numbers[0]
    assert given.v is numbers[1]
    step = 1e-6
    ends = [f(Body(1.25 + h, 0.0)) for h in (step, -step)]
    assert_allclose(found.x, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
    assert taken[0]


@pytest.mark.plain
def test_objects_from_outside_are_restored(taken):
    outside = Body(0.5)
    number = outside.x

    def f(x):
        for _ in range(5):
            outside.x += x * outside.x
        return outside.x

    assert_allclose(grad(f)(1.0), 0.5 * 5 * 2.0**4)
    assert outside.x is number
    assert taken == [True]


@pytest.mark.plain
def test_two_objects_of_one_class(taken):
    def f(x):
        a, b = Body(x, 0.5), Slotted(0.3)
        for _ in range(10):
            a.v += 0.1 * (b.x - a.x)
            b.v += 0.2 * (a.x - b.x) * a.v
            a.x += a.v
            b.x += b.v
        return a.x * b.x

    agrees(f, 1.2)
    assert taken == [True, True, False]


# Refused.


class Watched(Body):
    def __init__(self, x):
        super().__init__(x)
        self.log = []

    @property
    def v(self):
        return self.speed

    @v.setter
    def v(self, value):
        self.speed = min(value, 0.05)


class Limited(Body):
    def __setattr__(self, name, value):
        super().__setattr__(name, value * 0.99)


class Shown(Body):
    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return value * 1.01 if name == "v" else value


class Helpful(Body):
    def __getattr__(self, name):
        raise AttributeError(name)


class Converted:
    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, o, owner):
        return getattr(o, self.name)

    def __set__(self, o, value):
        setattr(o, self.name, 0.9 * value)


class Described(Body):
    v = Converted()


class Default(Body):
    """Of which the class has what instances have not yet."""

    v = 0.25

    def __init__(self, x):
        self.x = x


@pytest.mark.plain
@pytest.mark.parametrize("kind", [Watched, Limited, Shown, Helpful, Described, Default])
def test_other_classes_take_the_general_way(kind, taken):
    def f(x):
        body = steps(kind(x), 10)
        return body.x * body.v

    agrees(f, 1.2)
    assert not any(taken)


@pytest.mark.plain
def test_two_names_of_one_object(taken):
    def f(x):
        a = b = Body(x, 0.5)
        for _ in range(10):
            a.x += 0.1 * b.v
            b.x *= a.x
        return a.x

    agrees(f, 0.8)
    assert taken[0]


@pytest.mark.plain
def test_two_objects_with_one_state(taken):
    def f(x):
        a, b = Body(x, 0.5), Body(1.0)
        b.__dict__ = a.__dict__
        for _ in range(10):
            a.x += 0.1 * b.v
            b.x *= a.x
        return a.x

    equals_reference(f, 0.8)
    assert not any(taken)


@pytest.mark.plain
def test_an_object_whose_class_changes():
    def f(x):
        body = Body(x)
        for k in range(2):
            steps(body, 5)
            if k == 0:
                body.__class__ = Limited
        return body.x * body.v

    equals_reference(f, 1.2)


@pytest.mark.plain
@pytest.mark.parametrize("value", [None, "text", True, 0.5j, np.float32(0.5)], ids=repr)
def test_what_is_no_plain_number(value, taken):
    def f(x):
        body = Body(x)
        body.v = value
        for i in range(5):
            body.x *= x
            if i > 5:
                body.v = body.x
        return body.x

    equals_reference(f, 1.2)
    assert not any(taken)


@pytest.mark.plain
def test_attributes_that_cannot_be_stored():
    def f(x):
        z = 1.0 + 2.0j
        try:
            for i in range(5):
                x[i] *= 2.0
                z.real += x[i]
        except AttributeError:
            return np.sum(x) * (i + 1.0)

    agrees(f, X)


@pytest.mark.plain
@pytest.mark.parametrize("start", [{}, {"x": 1.0}], ids=str)
def test_an_attribute_that_is_missing(start, taken):
    def f(x):
        body = Empty(**start)
        for i in range(5):
            body.x = x * i
            body.y = body.x
            x += body.y
        return x * list(vars(body)).index("y")

    equals_reference(f, 1.2)
    assert not any(taken)


@pytest.mark.plain
def test_an_exception_leaves_what_python_leaves():
    def f(x):
        body = Body(x)
        try:
            for i in range(5):
                body.v += 1.0
                body.x /= 3.0 - i
        except ZeroDivisionError:
            pass
        assert body.v == 4.0
        assert i == 3
        return body.x * body.v

    agrees(f, 1.2)


@pytest.mark.plain
def test_loops_under_a_context_of_the_user():
    def f(x):
        a, b = Body(x, 0.5), Body(0.3)
        for _ in range(10):
            a.x += 0.1 * b.x
            b.x *= a.x
        return a.x

    assert Context().run(f, 0.8) == f(0.8)
