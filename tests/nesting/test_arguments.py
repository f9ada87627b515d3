"""Arguments of any structure that hold active data, of derivatives inside others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import SharedArgumentsError, debug_mode, grad, hvp, jvp, vjp
from tests.nesting.test_structures import HANDED, SECOND, X, differences
from tests.support.pairs import rotating

NAMES = [
    "number", "array", "0-d array", "tuple", "list", "dict", "object", "object with slots",
    "dataclass", "dataclass with slots", "frozen dataclass", "namedtuple", "namespace", "deque",
    "ordered dict", "default dict", "closure", "bound method", "partial", "one object twice",
    "one array twice", "nested",
]  # fmt: skip


def squares(gradient):
    """Return a number that depends on every part of a gradient."""
    if isinstance(gradient, (float, np.ndarray)):
        return np.sum(gradient * gradient)
    if isinstance(gradient, dict):
        return sum(squares(part) for part in gradient.values())
    if isinstance(gradient, (list, tuple)):
        return sum(squares(part) for part in gradient)
    if hasattr(gradient, "_fields"):
        return sum(squares(gradient[name]) for name in gradient)
    if hasattr(gradient, "a"):
        return squares(gradient.a) + squares(gradient.b)
    return 0.0


def by_grad(s, x):
    o = s.make(x[0] * 2.0, x * x[1])
    return squares(grad(lambda o: s.read(o) ** 3 * x[0])(o)) + s.read(o)


def by_grad_of_what_is_changed(s, x):
    held: Any = [s.make(x[0] * 2.0, x * x[1]), x[0]]

    def f(held):
        held[1] = held[1] * 2.0
        held.append(s.read(held[0]))
        return held[1] * held[2] ** 2

    return squares(grad(f)(held)) + held[1] * len(held)


def by_vjp(s, x):
    o = s.make(x[0] * 2.0, x * x[1])
    y, pullback = vjp(lambda o, z: s.read(o) ** 3 * z, o, x[0])
    g, gz = pullback(x[1])
    return squares(g) + gz * y


def by_jvp(s, x):
    o = s.make(x[0] * 2.0, x * x[1])
    t = grad(lambda o: s.read(o) * x[0])(o)
    y, dy = jvp(lambda o: s.read(o) ** 3, (o,), (t,))
    return y * dy


def by_hvp(s, x):
    o = s.make(x[0] * 2.0, x * x[1])
    t = grad(lambda o: s.read(o) * x[0])(o)
    return squares(hvp(lambda o: s.read(o) ** 3, (o,), t))


def by_another_name(s, x):
    o = s.make(x[0] * 2.0, x * x[1])
    return squares(grad(lambda p, z: (s.read(p) + s.read(o)) * z * s.read(p), (0, 1))(o, x[0]))


def by_one_argument_twice(s, x):
    o = s.make(x[0] * 2.0, x * x[1])
    first, second = grad(lambda p: s.read(p) ** 3 * x[0], (0, 0))(o)
    return squares(first) * x[1] + squares(second)


WAYS = [
    by_grad, by_grad_of_what_is_changed, by_vjp, by_jvp, by_hvp, by_another_name,
    by_one_argument_twice,
]  # fmt: skip


WRITTEN = ["default dict", "one object twice"]  # when they are read
CASES = [
    (name, way)
    for name, way in rotating(NAMES, WAYS, times=4)
    if way is not by_another_name or name not in WRITTEN
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "way"), CASES)
def test_an_argument_of_an_inner_derivative_keeps_its_derivative(name, way):
    s = HANDED[name]

    def f(x):
        return way(s, x)

    expected = differences(f, X)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-6)
    got = [jvp(f, (X,), (e,))[1] for e in np.eye(2)]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", WRITTEN)
def test_an_argument_that_is_written_and_captured_too_is_refused(name):
    with pytest.raises(SharedArgumentsError, match=r"'p'.* and a captured or global name share"):
        grad(lambda x: by_another_name(HANDED[name], x))(X)


def named(value):
    return (
        "-".join(map(named, value)) if type(value) is tuple else getattr(value, "__name__", value)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("case", "second"), rotating(CASES, SECOND), ids=named)
def test_an_argument_of_an_inner_derivative_keeps_its_second_derivative(case, second):
    name, way = case
    s = HANDED[name]

    def f(x):
        return way(s, x)

    expected = differences(lambda x: grad(f)(x) @ np.array([0.4, 1.1]), X)
    np.testing.assert_allclose(second(f, X), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["object", "closure", "nested"])
def test_it_does_so_in_debug_mode(name):
    s = HANDED[name]

    def f(x):
        return by_vjp(s, x)

    with debug_mode():
        got = grad(f)(X)
    np.testing.assert_array_equal(got, grad(f)(X))
