"""Calls with starred arguments, and loops over own iterables, at places that remember what runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, grad, jvp, value_and_grad


class Vector:
    def __init__(self, *items, scale=1.0):
        self.items = [item * scale for item in items]

    def __iter__(self):
        yield from self.items

    def dot(self, *others):
        return sum(a * b for a, b in zip(self, others, strict=True))


def weighted(*values, weight=0.5, **further):
    return weight * sum(values) * values[0] + sum(further.values())


CALLED = [
    lambda x, xs: weighted(*xs),
    lambda x, xs: weighted(x, *xs, weight=x),
    lambda x, xs: weighted(*xs, *xs, *xs, a=x, b=2.0),
    lambda x, xs: Vector(*xs, scale=x).dot(*xs),
    lambda x, xs: (Vector if x > 0.0 else weighted)(*xs).dot(*Vector(*xs)),
    lambda x, xs: max(*xs) * min(*xs, x),
    lambda x, xs: np.hypot(*xs[:2]) + math.hypot(*xs, x),
    lambda x, xs: np.sum(*[np.array([*xs, *Vector(*xs)])], axis=0),
    lambda x, xs: np.array(xs).reshape(*(3, 1)).sum() * x,
    lambda x, xs: np.array([[x, 1.0]]).transpose(*[1, 0]).sum(*[0], keepdims=True)[0] * x,
]


def difference(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2.0 * h)


@pytest.mark.parametrize("call", CALLED)
def test_starred_calls(call):
    def f(x):
        total = 0.0
        for k in range(4):
            total = total + call(x, [x, x * x + k, math.sin(x)])
        return total * x

    value, g = value_and_grad(f)(0.7)
    assert_allclose(value, f(0.7), rtol=1e-15)
    assert_allclose(g, difference(f, 0.7), rtol=1e-6)
    assert_allclose(jvp(f, (0.7,), (1.0,))[1], g, rtol=1e-12)


def test_the_wrong_number_of_starred_arguments():
    def f(x):
        y = 0.0
        for k in range(6):
            try:
                y = y + math.atan2(*[x] * (k // 2 + 1))
            except TypeError:
                y = y * x
        return y

    assert_allclose(grad(f)(0.7), difference(f, 0.7), rtol=1e-6)


def test_items_that_a_class_comes_to_give():
    class Own:
        def __init__(self, x):
            self.x = x

        def __iter__(self):
            return iter([self.x, 1.0])

    def other(self):
        yield self.x * self.x

    def f(x):
        o, total = Own(x), 0.0
        before = Own.__iter__
        try:
            for k in range(6):
                o.__iter__ = None  # of the instance, which Python does not ask
                for item in o:
                    total = total + item * x
                if k == 3:
                    Own.__iter__ = other
        finally:
            Own.__iter__ = before
        return total

    assert_allclose(value_and_grad(f)(0.7), (f(0.7), difference(f, 0.7)), rtol=1e-6)
    assert_allclose(
        value_and_grad(lambda x: checkpoint(f, x))(0.7), (f(0.7), difference(f, 0.7)), rtol=1e-6
    )


@pytest.mark.parametrize("given", [lambda self: 3, None, lambda self: [1.0], lambda self: 1 / 0])
def test_what_is_no_iterator_raises_what_it_raises(given):
    own = type("Own", (), {"__iter__": given})

    def f(x):
        for _ in range(4):
            try:
                for item in own():
                    x = x * item
            except (TypeError, ZeroDivisionError) as error:
                x = x + len(str(error).splitlines()[0])
        return x * x

    assert_allclose(value_and_grad(f)(0.7), (f(0.7), 2.0 * math.sqrt(f(0.7))))


def counted_by_next(x, items):
    iterator, y = iter(items), 1.0
    while (item := next(iterator, None)) is not None:
        y = y * x + item
    for item in iterator:
        y = y * item
    return y + next(iter([x]))


@pytest.mark.parametrize("run", [lambda f, *args: f(*args), checkpoint])
@pytest.mark.parametrize("items", [[1.0, 2.0, 3.0], range(1, 5), (0.5,), {1.0: 0, 2.0: 0}])
def test_items_of_containers_by_next(run, items):
    def f(x):
        return run(counted_by_next, x, items) * run(counted_by_next, x * 0.5, [x, x])

    assert_allclose(value_and_grad(f)(0.7), (f(0.7), difference(f, 0.7)), rtol=1e-6)


def test_an_iterator_that_two_checkpointed_parts_move_on():
    def f(x):
        iterator = iter([x, x * x, 2.0, 3.0 * x])

        def part(y):
            return y * next(iterator) + next(iterator, 7.0)

        return checkpoint(part, x) * checkpoint(part, x * x) * next(iterator, 5.0)

    assert_allclose(value_and_grad(f)(0.7), (f(0.7), difference(f, 0.7)), rtol=1e-6)
