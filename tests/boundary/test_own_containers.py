"""An argument and a captured or global list, dict or object are two variables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py import SharedArgumentsError, grad, gradient, hvp, jacobian, jvp, vjp
from tests.boundary.test_own_memory import pulled_twice
from tests.support.pairs import rotating

X = np.array([0.5, -1.5, 2.0])
V = np.array([1.0, 0.25, -2.0])
W = np.array([0.5, -1.5, 2.0])
NUMBERS = [0.5, -1.5, 2.0]
HOLDER = SimpleNamespace(numbers=NUMBERS, weights=W)
BY_NAME = {"a": 2.0, "w": W}
ARRAYS = [W, X[:1].copy()]


def with_list(p):
    return p[0] ** 2 * NUMBERS[0] + p[1] ** 2 * NUMBERS[1]


def with_list_held(p):
    return p[0] ** 2 * HOLDER.numbers[0] + p[1] ** 2 * HOLDER.numbers[1]


def with_list_called(p):
    return with_list(p) + with_default(p) - with_default(p)


def with_default(p, q=NUMBERS):
    return p[0] ** 2 * q[0] + p[1] ** 2 * q[1]


def with_dict(p):
    return p["a"] ** 2 * BY_NAME["a"] + np.sum(p["w"] ** 2 * BY_NAME["w"])


def with_dict_by_its_array(p):
    return 2.0 * p["a"] ** 2 + np.sum(p["w"] ** 2 * W)


def with_object(p):
    return p.numbers[0] ** 2 * HOLDER.numbers[0] + np.sum(p.weights**2 * HOLDER.weights)


def with_arrays(p):
    return np.sum(p[0] ** 2 * ARRAYS[0])


def scaled_by(a, b):
    return lambda x: a**2 * x + np.sum(b**2)


SCALED = scaled_by(2.0, W)
SCALED_LATER = functools.partial(scaled_by, 2.0)


def with_function(p):
    return p(1.0) * SCALED(1.0)


def with_partial(p):
    return p.args[0] ** 2 * SCALED_LATER.args[0]


FIRST = 2 * X * X
TOTAL = 4.0 + np.sum(X * X)
HELD_BY = [
    (with_list, NUMBERS, lambda g: g, [0.5, 4.5, 0.0]),
    (with_list_held, NUMBERS, lambda g: g, [0.5, 4.5, 0.0]),
    (with_list_called, NUMBERS, lambda g: g, [0.5, 4.5, 0.0]),
    (with_default, NUMBERS, lambda g: g, [0.5, 4.5, 0.0]),
    (with_dict, BY_NAME, lambda g: [g["a"], *g["w"]], [8.0, *FIRST]),
    (with_dict_by_its_array, BY_NAME, lambda g: [g["a"], *g["w"]], [8.0, *FIRST]),
    (with_object, HOLDER, lambda g: [g.numbers[0], *g.weights], [0.5, *FIRST]),
    (with_arrays, ARRAYS, lambda g: g[0], FIRST),
    (with_function, SCALED, lambda g: [g.a, *g.b], [4.0 * TOTAL, *(2 * X * TOTAL)]),
    (with_partial, SCALED_LATER, lambda g: g.args, [8.0]),
]


class Caller:
    def __init__(self, f):
        self.f = f

    def call(self, p):
        return self.f(p)

    __call__ = call


OF_HOLDERS: dict[str, Callable[..., Any]] = {
    "grad": lambda f, p: grad(f)(p),
    "forward": lambda f, p: grad(f, mode="forward")(p),
    "vjp": lambda f, p: pulled_twice(vjp(f, p)[1]),
    "gradient": lambda f, p: gradient(f, p)[0],
    "debug": lambda f, p: grad(f, debug=True)(p),
    "keyword": lambda f, p: grad(f, "p")(p=p),
    "inside": lambda f, p: vjp(grad(f), p)[0],
    "method": lambda f, p: grad(Caller(f).call)(p),
    "object": lambda f, p: grad(Caller(f))(p),
    "partial": lambda f, p: grad(functools.partial(f))(p),
    "closure": lambda f, p: grad(lambda q: f(q))(p),
}


@pytest.mark.parametrize(
    ("take", "f", "p", "numbers", "expected"),
    [(take, *given) for take, given in rotating(OF_HOLDERS.values(), HELD_BY, times=2)],
)
def test_gradients_of_containers_and_objects_are_partial(take, f, p, numbers, expected) -> None:
    np.testing.assert_allclose(numbers(take(f, p)), expected)
    assert NUMBERS == [0.5, -1.5, 2.0]
    np.testing.assert_array_equal(W, X)


def test_second_derivatives_of_containers_are_partial() -> None:
    np.testing.assert_allclose(hvp(with_list, (NUMBERS,), [1.0, 1.0, 1.0]), [1.0, -3.0, 0.0])
    v = {"a": 1.0, "w": V}
    for f in (with_dict, with_dict_by_its_array):
        for found in (hvp(f, (BY_NAME,), v), jvp(grad(f), (BY_NAME,), (v,))[1]):
            np.testing.assert_allclose([found["a"], *found["w"]], [4.0, *(2 * X * V)])
    slopes = jacobian(lambda p: grad(with_list)(p)[1])(NUMBERS)
    np.testing.assert_allclose(slopes, [0.0, -3.0, 0.0])


def set_item(p):
    p[0] = 3.0
    return p[0] * NUMBERS[0]


def append(p):
    p.append(1.0)
    return p[0] * len(NUMBERS)


def set_item_of_the_other(p):
    NUMBERS[0] = 3.0
    return p[0]


@pytest.mark.parametrize(
    ("take", "f"), rotating(OF_HOLDERS.values(), [set_item, append, set_item_of_the_other])
)
def test_writes_into_containers_that_are_captured_too_are_errors(take: Any, f: Any) -> None:
    with pytest.raises(SharedArgumentsError, match=r"argument .* and a captured or glob"):
        take(f, NUMBERS)
    assert NUMBERS == [0.5, -1.5, 2.0]
