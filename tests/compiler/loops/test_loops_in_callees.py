"""Functions with functions as arguments, and nested functions, in loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from tests.compiler.comparing import agrees
from tests.programs.comparing import function_of

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
TABLE = [0.5, 1.5, 0.75, 0.25, 2.0]


def scaled(z, k):
    return z[k] * (k + 1)


def twice(g, u):
    return g(g(u))


def halved(u):
    return 0.5 * u


def outer(g, u):
    return twice(g, u) + g(u)


@pytest.mark.plain
def test_functions_as_arguments(taken):
    def f(x):
        s = 0.0
        for i in range(5):
            s += outer(halved, x[i]) * twice(tripled, s)
        return s

    agrees(f, X)
    assert taken[:2] == [True, True]


tripled = lambda u: 3.0 * u - 1.0  # noqa: E731


@pytest.mark.plain
def test_what_an_argument_is_bound_to_is_watched(taken):
    f = function_of(
        "def g(u): return 0.5 * u\ndef h(g, u): return g(u) * u\n"
        "def f(x):\n    s = 0.0\n    for i in range(5): s += h(g, x[i])\n    return s\n",
        "<an argument that changes>",
    )
    assert_allclose(value_and_grad(f)(X)[1], X)
    f.__globals__["g"] = lambda u: u
    assert_allclose(value_and_grad(f)(X)[1], 2.0 * X)
    assert taken == [True, True]


# Functions that stand in the function that has the loop.


@pytest.mark.plain
def test_nested_functions_read_the_variables_round_them():
    def f(x, a):
        t, n = a * a, len(x)

        def force(u, k, rate=2.0, *, top=9.0):
            if u > top:
                return top
            return -0.2 * rate * u * a + x[(k + 1) % n] * t + TABLE[k]

        energy = lambda u: np.tanh(0.5 * u) + np.sin(s) * scaled(x, 1)  # noqa: E731

        s = 0.0
        for i in range(n):
            s += force(x[i], i) + force(s, i, rate=a, top=0.3)
            t = energy(s)
        return s * t

    agrees(f, 0.2 * X, 0.7)


@pytest.mark.plain
def test_nested_functions_call_one_another(taken):
    def f(x, a):
        def inner(u):
            a = 2.0
            return a * u * b

        def outer(u, k):
            b = 0.25
            u *= b
            for i in range(k):
                u = inner(u) * x[i]
            return u

        b = a * 3.0
        s = 0.0
        for i in range(5):
            s += outer(a, i)
        return s

    agrees(f, X, 0.7)
    assert taken[:3] == [True, True, False]
    assert not any(taken[3:])  # loops of nested functions, where the reference runs


@pytest.mark.plain
@pytest.mark.parametrize(
    "body",
    [
        "g = lambda u: 2 * u\ng = lambda u: a * u\nLOOP",
        "def g(u): return 2 * u\nif a > 0:\n    def g(u): return 3 * u\nLOOP",
        "def g(u): return 2 * u\nh = g\nLOOP",
        "def g(u): return 2 * u\ng.__code__ = (lambda u: 4 * u).__code__\nLOOP",
        "def g(u):\n    nonlocal a\n    a = u\n    return u\nLOOP",
        "def g(u): return g(u - 1) * 2 if u > 0 else u\nLOOP",
        "def g(u): yield u * 2\nfor g in g(1): pass\ng = float\nLOOP",
        "def g(*u): return u[0]\nLOOP",
        "@twice\ndef g(u): return 2 * u\nLOOP",
        "def g(u):\n    def h(u): return u\n    return h(u)\nLOOP",
        "if a > 0:\n    def g(u): return 2 * u\nelse: g = float\nLOOP",
    ],
)
def test_nested_functions_of_other_kinds(body):
    body = body.replace("LOOP", "for i in range(5): s += g(x[i])\nreturn s * a")
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    f = function_of(
        f"def twice(f): return lambda u: 2 * f(u)\ndef f(x, a):\n    s = 0.0\n{lines}",
        f"<nested {body}>",
    )
    agrees(f, X, 0.7)


def test_a_nested_function_that_is_not_bound_yet():
    def f(x):
        s = 0.0
        try:
            for i in range(5):
                s += g(x[i])  # noqa: F821  # pyright: ignore[reportUnboundVariable]
        except UnboundLocalError:
            s = x[0]

        def g(u):
            return u * u

        return s * g(s)

    agrees(f, X)
