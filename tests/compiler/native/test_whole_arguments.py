"""Lists and tuples as arguments of functions that are compiled whole."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import (
    MooncakeError,
    SharedArgumentsError,
    grad,
    hvp,
    jvp,
    value_and_grad,
    value_and_hvp,
    vjp,
)
from mooncake_py.modes.forward import whole as forward
from mooncake_py.modes.reverse import whole

pytestmark = pytest.mark.plain

rng = np.random.default_rng(0)
WEIGHTS = [rng.standard_normal((3, 3)), rng.standard_normal((3, 3))]
BIASES = rng.standard_normal(3), 0.5
X = rng.standard_normal(3)


@pytest.fixture
def ways(tried, monkeypatch):
    """Which calls went without a tape or contexts, in order; regions run as plain Python."""
    found: list[bool] = []

    def watched(run):
        def noted(*args, **options):
            y = run(*args, **options)
            found.append(y is not None)
            return y

        return noted

    monkeypatch.setattr(whole, "gradient_of_whole", watched(whole.gradient_of_whole))
    for name in ("push_whole", "products_of_whole"):
        monkeypatch.setattr(forward, name, watched(getattr(forward, name)))
    return found


def layers(weights, biases, x):
    for w, b in zip(weights, biases, strict=True):
        x = np.tanh(x @ w + b)
    weights[0][0, 0] = x[0]
    return np.sum(x * x) * weights[0][0, 0]


def same(a, b):
    """Check that two derivatives are built alike, of the same numbers."""
    assert type(a) is type(b)
    if isinstance(a, list | tuple):
        for one, other in zip(a, b, strict=True):
            same(one, other)
    else:
        assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("argnums", [0, 1, "biases", (0, 1), (2, 0, 1), (1, "x")])
def test_gradients_are_built_like_the_arguments(argnums, ways):
    args = copy.deepcopy((WEIGHTS, BIASES, X))
    for _ in range(2):
        value, g = value_and_grad(layers, argnums, compile=True)(*args)
    expected, h = value_and_grad(layers, argnums, compile=False)(*args)
    assert ways == [True, True]
    assert value == pytest.approx(expected)
    same(g, h)
    same(args, (WEIGHTS, BIASES, X))


def test_derivatives_along_lists(ways):
    args = copy.deepcopy((WEIGHTS, BIASES, X))
    direction = [[np.ones((3, 3)), 0.5 * np.eye(3)], (np.arange(3.0), 2.0), None]
    direction[2] = np.zeros(3)
    found, expected = (jvp(layers, args, tuple(direction), compile=way) for way in (True, False))
    assert ways == [True]
    same(found, expected)
    same(args, (WEIGHTS, BIASES, X))


@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (2, 0, 1)])
def test_products_with_hessians(argnums, ways):
    args = copy.deepcopy((WEIGHTS, BIASES, X))
    flat = np.arange(18.0)  # directions may share memory
    along = [flat[:9].reshape(3, 3), flat[9:].reshape(3, 3)], (flat[:3], 2.0), flat[3:6]
    v = tuple([along[n] for n in argnums]) if isinstance(argnums, tuple) else along[argnums]
    for derivative in (hvp, value_and_hvp):
        found, expected = (
            derivative(layers, args, v, argnums, compile=way) for way in (True, False)
        )
        same(found, expected)
    assert ways == [True, True]
    same(args, (WEIGHTS, BIASES, X))
    assert_allclose(flat, np.arange(18.0), rtol=0)


def test_directions_that_are_not_built_like_the_arguments(ways):
    def errors(way):
        with pytest.raises(MooncakeError) as info:
            hvp(layers, (WEIGHTS, BIASES, X), [np.ones((3, 3))], compile=way)
        return str(info.value)

    assert errors(True) == errors(False)
    assert ways == [False]


def test_nested_containers(ways):
    def f(parts, k):
        (a, b), (c,) = parts
        return np.sum(a * b) * c * k

    parts = ([X.copy(), 2.0 * X], [0.5])
    g, h = (value_and_grad(f, (0, 1), compile=way)(parts, 3.0)[1] for way in (True, False))
    assert ways == [True]
    same(g, h)


def total(parts):
    s = 0.0
    for a in parts:
        s += np.sum(a * a * a)
    return s


def test_parts_that_share_memory_have_one_derivative(ways):
    x = X.copy()
    for parts in ([x, x], [x, x[1:]], (x[:2], x[2:])):
        g, h = (value_and_grad(total, compile=way)(parts)[1] for way in (True, False))
        same(g, h)
    assert ways == [False, False, False]


def test_what_has_no_derivative_goes_the_general_way(ways):
    g, h = (value_and_grad(total, compile=way)([X, 2])[1] for way in (True, False))
    assert type(g[1]) is type(h[1])
    assert_allclose(g[0], h[0])
    assert ways == [False]


def test_arguments_that_share_what_is_written(ways):
    weights = copy.deepcopy(WEIGHTS)
    for way in (True, False):
        with pytest.raises(SharedArgumentsError):
            value_and_grad(layers, (0, 2), compile=way)(weights, BIASES, weights[0][0])


def test_other_derivatives(tried):
    args = [X.copy(), 2.0 * X]
    for way in (True, False):
        _, pullback = vjp(total, args, compile=way)
        same(pullback(1.0)[0], [3.0 * a * a for a in args])
        product = hvp(total, (args,), [np.ones(3), np.zeros(3)], compile=way)
        same(product[0] if isinstance(product, tuple) else product, [6.0 * X, np.zeros(3)])


@pytest.mark.parametrize("numbers", [True, False])
def test_a_list_that_stands_twice_has_one_derivative(numbers, ways):
    def product(p):
        (a,), (b,) = p[0], p[1]
        return np.sum(a * b)

    inner = [2.0 if numbers else X.copy()]
    for way in (True, False):
        g = grad(product, compile=way)([inner, inner])
        assert g[0] is g[1]
        same(g, [[2.0 * inner[0]]] * 2)
        move = [1.0 if numbers else np.ones(3)]
        slope = jvp(product, ([inner, inner],), ([move, move],), compile=way)[1]
        same([slope], [2.0 * np.sum(inner[0])])
    assert not any(ways)


def test_a_list_that_is_captured_too_is_constant_by_that_name(ways):
    p, x = [2.0, X.copy()], 1.5
    inner = [p]

    def f(q, x):
        return q[0] * p[0] * x + np.sum(q[1] * inner[0][1])

    expected = [2.0 * x, X]
    for way in (True, False):
        same(grad(f, compile=way)(p, x), expected)
        same(grad(f, (0, 1), compile=way)(p, x), (expected, 4.0))
        same(jvp(f, (p, x), ([1.0, X], 0.0), compile=way)[1], 2.0 * x + X @ X)
        product = hvp(f, (p, x), [1.0, np.zeros(3)], compile=way)
        same(product, [0.0, np.zeros(3)])
        same(grad(f, 1, compile=way)(p, x), 4.0)
    assert ways == [False, False, False, False, True]


def test_a_list_that_is_two_arguments_is_a_variable_by_one_name_each(ways):
    def f(p, q):
        return np.sum(p[0] * q[1]) + np.sum(p[1] * q[0])

    p = [X.copy(), 2.0 * X]
    for way in (True, False):
        for argnum in (0, 1):
            same(grad(f, argnum, compile=way)(p, p), [2.0 * X, X])
        same(grad(f, (0, 1), compile=way)(p, p), ([2.0 * X, X], [2.0 * X, X]))
    assert ways == [False, False, False]


DEEP = [[X.copy()]]


class Held:
    def __init__(self, a):
        self.a = a


def by_a_long_way(p):
    return np.sum((p.a if isinstance(p, Held) else p[0]) * DEEP[0][0])


@pytest.mark.parametrize("make", [lambda a: [a], lambda a: (a, 1.0), Held])
def test_arrays_that_are_captured_too_are_left_to_the_general_way(make, ways):
    for a in (X.copy(), DEEP[0][0], X.copy()):
        g, h = (grad(by_a_long_way, compile=way)(make(a)) for way in (True, False))
        own, others = (t.a if hasattr(t, "a") else t[0] for t in (g, h))
        same(own, others)
    assert ways == [True, False, True]
