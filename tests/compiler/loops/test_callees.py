"""Functions of the user that a loop calls are read as part of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import elementwise, grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.sites import callees
from mooncake_py.compiler.sites.callees import Callee
from tests.compiler.comparing import agrees
from tests.programs.comparing import function_of

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
HEAD = "import math\nimport numpy as np\nSTEP = 0.5\nTABLE = np.ones(5)\n"
LOOP = (
    "def f(x, a):\n    s = 0.0\n    for i in range(len(x)):\n        s += {call}\n"
    "    return s * 2.0\n"
)


def program(functions: str, call: str):
    """Return a function with a loop that calls others."""
    text = HEAD + functions + "\n" + LOOP.format(call=call)
    return function_of(text, f"<calls {abs(hash(text))}>")


def ramp(u, v):
    if u < 0.0:
        return 0.0
    return v * u


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize(
    ("functions", "call"),
    [
        ("def g(u): return u * u", "g(x[i])"),
        ("def g(u):\n    'Square.'\n    return u * u", "g(x[i]) * g(a)"),
        ("def g(u, v, /):\n    u *= v\n    w: float = u - v\n    return w", "g(x[i], 2.0)"),
        ("def g(u):\n    if u > 0.0: return u\n    if u < -1.0: return -u\n    return math.sin(u)",
         "g(x[i]) + g(-x[i])"),
        ("def g(u):\n    if u > 0.0:\n        w = u\n    else:\n        w = 2.0\n    return w * u",
         "g(x[i])"),
        ("def h(u): return STEP * np.tanh(u)\ndef g(u): return h(h(u) + 1) * u", "g(x[i])"),
        ("def g(u, s): return u * s", "g(a, g(s, x[i]))"),
        ("def g(u, k=3): return u ** 2 / k", "g(x[i], i + 1)"),
        ("def g(u, *, v=2.0): return u * v", "g(x[i])"),
        ("def g(u, v=2.0): return u * v", "g(x[i])"),
        ("def g(u): return u * 2.0", "g(u=x[i])"),
        ("def h(c):\n    def g(u): return u * c\n    return g\ng = h(2.0)", "g(x[i])"),
        ("g = lambda u: u * 2.0", "g(x[i])"),
        ("def g(a): return a * s\ns = 3.0", "g(x[i])"),
        ("def g(i, s):\n    s, i = i, s\n    return s - i * i", "g(x[i], a)"),
        ("def g(u):\n    if 0.0 < u < 1.0 and not u == STEP: return 1\n    return u", "g(x[i])"),
        ("def g(u): return TABLE[1] * u", "g(x[i])"),
        ("def g(u, k): return TABLE[k - 1] * u", "g(x[i], i + 1)"),
        ("def g(u):\n    for k in range(3): u = u * STEP + k\n    return u", "g(x[i])"),
        ("def g(u, n):\n    for k in range(n): u *= 1.5\n    return u", "g(x[i], i)"),
        ("def g(z):\n    s = 0.0\n    for u, v in zip(z, TABLE): s += u * v\n    return s", "g(x)"),
    ],
)  # fmt: skip
def test_functions_that_are_part_of_the_loop(functions, call, taken):
    f = program(functions, call)
    agrees(f, X, 0.3)
    assert taken[0] is True
    v = np.array([1.0, -0.5, 0.2, 0.3, 2.0])
    assert_allclose(jvp(f, (X, 0.3), (v, None))[1], grad(f)(X, 0.3) @ v, rtol=1e-12)
    h = 1e-6
    differences = (grad(f)(X + h * v, 0.3) - grad(f)(X - h * v, 0.3)) / (2 * h)
    assert_allclose(hvp(f, (X, 0.3), v), differences, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("functions", "call", "why"),
    [
        ("def g(u):\n    if u > 0.0: return u", "g(abs(x[i]))", "None may come out, and abs"),
        ("def g(u):\n    if u > 9.0: return u\n    w = u", "(g(x[i]) or 1.0)", "a truth"),
        ("def g(*u): return u[0]", "g(x[i])", "any number of arguments"),
        ("def g(u):\n    for k in range(2):\n        if u > 0: return u\n    return -u", "g(x[i])",
         "a return within a loop"),
        ("def g(u):\n    for k in range(2): u *= 2.0\n    return u * k", "g(x[i])", "a counter"),
        ("def g(u):\n    for k in range(2):\n        k = 1\n    return u", "g(x[i])", "a counter"),
        ("def g(u):\n    for k in 1, 2: pass\n    else: u = 1.0\n    return u", "g(x[i])", "else"),
        ("def g(u):\n    while u > 9: pass\n    else: u *= 2.0\n    return u", "g(x[i])", "else"),
        ("def g(u, k): return TABLE[k] * u", "g(x[i], i % 2 if x[i] else 0)", "no int"),
        ("def g(u): return OTHER[0] * u\nOTHER = {0: 2.0}", "g(x[i])", "a dict of outside"),
        ("def g(u):\n    print(end='')\n    return u", "g(x[i])", "a call with an effect"),
        ("def g(u):\n    global STEP\n    STEP = 0.5\n    return u", "g(x[i])", "a global"),
        ("def g(u): return u if u < 0 else g(u - 1.0) * 0.5", "g(x[i])", "a choice"),
        ("def g(u):\n    if u < 0.0: return u\n    return g(u - 1.0)", "g(x[i])", "recursion"),
        ("def g(u):\n    yield u", "next(g(x[i]))", "a generator"),
        ("class G:\n    def __call__(self, u): return u\ng = G()", "g(x[i])", "an object"),
        ("def g(u):\n    if u > 0.0:\n        w = u\n    return w if False else u", "g(x[i])",
         "a name that may not be bound"),
        ("def g(u): return u * u.itemsize", "g(x[i])", "an attribute"),
        ("def g(u): return m.sin(u)\nimport cmath as m", "g(m[0]) if False else 1.0 * x[i]", "m"),
    ],
)  # fmt: skip
def test_functions_that_may_be_left(functions, call, why):
    f = program(functions, call)
    x = np.abs(X) + 0.1
    assert value_and_grad(f)(x, 0.3)[0] == f(x, 0.3), why


@pytest.mark.plain
def test_a_function_that_is_another_one_now(taken):
    f = program("def g(u): return u * u\ndef h(u): return u * 3.0", "g(x[i])")
    scope = f.__globals__
    first = grad(f)(X, 0.3)
    scope["g"] = scope["h"]
    assert_allclose(grad(f)(X, 0.3), 6.0)
    scope["g"] = lambda u: u * 5.0
    assert_allclose(grad(f)(X, 0.3), 10.0)
    assert taken[0] is True
    assert_allclose(first, 4.0 * X)


@pytest.mark.plain
def test_a_function_whose_code_is_another_one_now(taken):
    f = program("def g(u): return u * u\ndef h(u): return u * 3.0", "g(x[i])")
    scope = f.__globals__
    assert_allclose(grad(f)(X, 0.3), 4.0 * X)
    scope["g"].__code__ = scope["h"].__code__
    assert_allclose(grad(f)(X, 0.3), 6.0)
    assert taken == [True, True]


@pytest.mark.plain
def test_a_function_that_has_a_rule_now(taken):
    f = program("def g(u): return u * u", "g(x[i])")
    assert_allclose(grad(f)(X, 0.3), 4.0 * X)
    elementwise(f.__globals__["g"], lambda u, y: 7.0)
    assert_allclose(grad(f)(X, 0.3), 14.0)
    assert taken == [True, False]


@pytest.mark.plain
def test_a_function_that_is_rebound_on_the_way_to_the_loop():
    text = HEAD + (
        "def g(u): return u * u\n"
        "def swap():\n    global g\n    g = lambda u: u * 3.0\n"
        "def f(x):\n    swap()\n    s = 0.0\n    for i in range(len(x)):\n        s += g(x[i])\n"
        "    return s\n"
    )
    f = function_of(text, "<rebound function>")
    assert_allclose(grad(f)(X), 3.0)


@pytest.mark.plain
def test_a_function_that_another_thread_has_stand_meanwhile(monkeypatch):
    def made(k):
        return lambda u: k * u

    f, other = made(2.0), made(2.0)
    elementwise(other, lambda u, y: 7.0)
    callee = Callee(f, f)
    plain = callees.has_rule

    def meanwhile(g):
        found = plain(g)
        if callee.function() is f:
            callee.stand_for(other)
        return found

    monkeypatch.setattr(callees, "has_rule", meanwhile)
    assert callee.holds(f)
    assert callee.function() is other
    assert not callee.holds(other)
