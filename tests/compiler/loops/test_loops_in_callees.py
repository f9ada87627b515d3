"""Functions with loops and ints of their own, and with functions as arguments, in loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from tests.compiler.comparing import agrees
from tests.programs.comparing import function_of

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
TABLE = [0.5, 1.5, 0.75, 0.25, 2.0]


def downwards(z, i, u):
    for k in range(len(z) - 1, -1, -1):
        if z[k] < 0.0:
            continue
        u = u * 0.5 + z[k]
        if u > 3.0:
            break
    return u


def steps_of_an_index(z, i, u):
    k = i
    for j in range(2):
        k = (k + j) % len(z)
        k += 1
    k -= 1
    return z[k] * k * u


def own_index(z, i, u):
    i = i + 1
    i %= len(z)
    return z[i] * u + i


def until(z, i, u):
    k = 0
    while u > 0.5 and k < 3:
        u *= TABLE[k]
        k += 1
    return u * k


def triangle(z, i, u):
    s = 0.0
    for j in range(i):
        for k in range(j):
            s += scaled(z, k)
        s *= scaled(z, j)
    return s * u


def scaled(z, k):
    return z[k] * (k + 1)


def nearest(z, i, u):
    m, n = 0, len(z)
    for q in range(1, n):
        if abs(z[q] - u) < abs(z[m] - u):
            m = q
    return z[m] * u


def pairs(z, i, u):
    s = 0.0
    for v, w in zip(z, TABLE, strict=True):
        for k, t in enumerate(TABLE):
            s += v * w * u * t + k
    return s


def one_branch(z, i, u):
    m = 0
    if u > 0.0:
        m = i - 1
        k = m - 1
        u *= z[k]
    return z[m] * u


def smooth(z, i, u):
    for k in range(1, len(z)):
        z[k] = 0.5 * z[k] + 0.1 * z[k - 1] * u
    return u


AS_TEXT = until, pairs
"""Functions with which the loop itself runs as text of NumPy."""
FUNCTIONS = [
    downwards, steps_of_an_index, own_index, until, triangle, nearest, pairs, one_branch, smooth,
]  # fmt: skip


def caller_of(g):
    """Return a function with a loop that calls another one."""
    f = function_of(
        "def f(x, a):\n    s = 1.0\n    for i in range(5):\n        u = g(x, i, a * x[i])\n"
        "        s += u\n    return s * x[1]\n",
        f"<calls {g.__name__}>",
    )
    f.__globals__["g"] = g
    return f


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize("g", FUNCTIONS)
def test_loops_and_ints(g, taken):
    f = caller_of(g)
    agrees(f, X, 0.7)
    assert g in AS_TEXT or taken[:2] == [True, True]
    v = np.array([1.0, -0.5, 0.2, 0.3, 2.0])
    gradient = value_and_grad(f)(X, 0.7)[1]
    assert_allclose(jvp(f, (X, 0.7), (v, None))[1], gradient @ v, rtol=1e-12)
    h = 1e-6
    ends = [value_and_grad(f)(X + e * v, 0.7)[1] for e in (h, -h)]
    assert_allclose(hvp(f, (X, 0.7), v), (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-7)


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
