"""Calls of the user's functions within loops: by their bodies, as long as nothing has changed."""

from __future__ import annotations

import gc
import math
import textwrap
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import from_vjp, grad, jvp, value_and_grad
from mooncake_py.compiler.sites import callees
from mooncake_py.contexts import Context
from tests.compiler.comparing import agrees, equals_reference
from tests.programs.comparing import function_of

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
RATE = 0.3


def own(name: str, text: str, **scope: Any) -> Any:
    """Return the function ``f`` of a text, in which names have values."""
    f = function_of(f"import math\nimport numpy as np\n{text}", f"<calls {name}>")
    f.__globals__.update(scope)
    return f


def reaction(u, v, rate=RATE, *, top=1.5):
    """Return the speed of a reaction."""
    if u < 0.0:
        return 0.0
    elif u > top:
        return rate * v
    return rate * u * v / (1.0 + u)


def halves(u, v):
    w = 0.5 * (u + v)
    return w, u - w


def chain(u):
    first, second = halves(u, RATE)
    return reaction(first, second, top=0.2) + math.sin(u) * math.pi


def item(z, i):
    return z[i - 1] * len(z)


def relax(z, i, a):
    z[i] = a * z[i] + (1 - a) * z[i - 1]


# What is read.


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize(
    "body",
    [
        "s += reaction(x[i] * 1.0, a)", "s = reaction(u=s, v=a, rate=x[i])",
        "s += reaction(a, s, 2, top=0.5)", "s, t = halves(s + x[i], t)", "s += chain(a * i)",
        "s += item(x, i)", "relax(x, i, 0.3 * a)", "if reaction(a, s) < 0.2: s += x[i]",
        "s += item(x, i + 1 - 1) if i else a", "s = max(s, x[i])", "t = min(s * a, 0.5); s += t",
        "s += abs(x[i] - a)", "x[i] = abs(x[i]) if x[i] < a < 1 else -a",
        "x[i] = max(min(x[i], a), -a) * 2", "s += cube(x[i])", "s = s + (lambda_(s) if s else a)",
    ],
)  # fmt: skip
def test_calls_are_read(body, taken):
    scope = {f.__name__: f for f in (reaction, halves, chain, item, relax)}
    lines = "\n".join(f"        {line}" for line in body.split("; "))
    f = own(
        body,
        "def cube(u): return u ** 3\nlambda_ = lambda u: u * 0.5\n"
        f"def f(x, a):\n    s = x[0]\n    t = x[1]\n    for i in range(5):\n{lines}\n"
        "    return s * t + x[2] * x[4] + a\n",
        **scope,
    )
    agrees(f, X, 0.6)
    assert taken == [True, True, False]


@pytest.mark.plain
@pytest.mark.parametrize(
    ("definition", "call"),
    [
        ("def g(u): return g(u - 1) * u if u > 0 else u", "g(x[i])"),
        ("def g(u): yield u", "next(g(x[i]))"),
        ("def g(*u): return u[0]", "g(x[i])"),
        ("def g(u, **w): return u", "g(x[i])"),
        ("def g(u, v=None): return u", "g(x[i])"),
        ("def g(u):\n    k = len(x_)\n    return u * k", "g(x[i])"),
        ("def g(u):\n    if u > 0: return u", "g(x[i]) or 0.0"),
        ("def g(u):\n    if u > 0: w = u\n    return w", "g(abs(x[i]))"),
        ("def g(u):\n    global x_\n    x_ = u\n    return u", "g(x[i])"),
        ("def g(u): return [u][0]", "g(x[i])"),
        ("def g(z, i):\n    z[i] *= 2.0\n    return z[i]", "x[i] + g(x, i)"),
        ("g = np.vectorize(lambda u: u)", "g(x[i])"),
    ],
)
def test_other_functions(definition, call):
    f = own(
        definition + call,
        f"x_ = [1.0, 2.0, 3.0, 1.0, 2.0]\n{definition}\n"
        f"def f(x):\n    s = 0.0\n    for i in range(5):\n        s = s + ({call})\n    return s\n",
    )
    agrees(f, X)


@pytest.mark.plain
def test_a_function_that_raises_leaves_the_region(taken):
    def f(x, a):
        s = 0.0
        for i in range(5):
            s += checked(x[i], a)
        return s

    agrees(f, X, -2.0)
    assert taken == [True, True, False]
    with pytest.raises(ValueError, match="too small"):
        grad(f)(X, 1.0)
    assert taken[-1] is False


def checked(u, least):
    assert least < 5.0
    if u < least:
        raise ValueError("too small")
    return u * u


@pytest.mark.plain
@pytest.mark.parametrize("a", [0.7, 0.0, -0.7])
def test_ties_and_zeros_are_those_of_the_reference(a):
    def f(x, a):
        s = 0.0
        for i in range(5):
            s += max(x[i], a) * min(a, x[i]) + max(a, a * 1.0) + abs(x[i] - a) + abs(a)
        return s

    equals_reference(f, X, a)


@pytest.mark.plain
def test_values_that_are_nan_take_the_general_way(taken):
    def f(x):
        s = 0.0
        for i in range(3):
            s += max(x[i], 0.5) * min(0.5, x[i]) + max(0.5, x[i])
        return s

    x = np.array([0.7, np.nan, 0.2])
    value, g = value_and_grad(f)(x)
    assert math.isnan(value)
    assert math.isnan(f(x))
    assert g.shape == x.shape
    assert taken == [False]


# What is assumed.

TEXT = """
RATE = 2.0
def inner(u, k=1.5):
    return k * u
def g(u, k=3.0, *, w=1.0):
    if u < -9.0:
        return u
    return RATE * math.sin(u) * k * inner(u) * w
def f(x):
    s = 0.0
    for i in range(5):
        s += g(x[i])
    return s
"""


def other(u, k=3.0, *, w=1.0):
    return u * u * k * w


def change_code(f):
    f.__globals__["g"].__code__ = other.__code__


def change_defaults(f):
    f.__globals__["g"].__defaults__ = (0.5,)


def change_keyword_default(f):
    f.__globals__["g"].__kwdefaults__["w"] = 0.5


def change_function(f):
    f.__globals__["g"] = other


def change_inner_function(f):
    f.__globals__["inner"] = other


def change_inner_defaults(f):
    f.__globals__["inner"].__defaults__ = (0.5,)


def change_global(f):
    f.__globals__["RATE"] = 0.5


def hide_a_module(f):
    class math:
        sin = abs

    f.__globals__["math"] = math


CHANGES = [
    change_code, change_defaults, change_keyword_default, change_function, change_inner_function,
    change_inner_defaults, change_global, hide_a_module,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize("change", CHANGES)
def test_changes_between_calls_are_seen(change, taken):
    f = own(change.__name__, TEXT)
    value_and_grad(f)(X)
    assert taken == [True]
    change(f)
    value, g = value_and_grad(f)(X)
    assert value == f(X)
    assert_allclose(g, [jvp(f, (X,), (e,))[1] for e in np.eye(5)], rtol=1e-12)
    h = 1e-6
    assert_allclose(g, [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(5)], rtol=1e-6)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("change", "serves"), [(change_global, True), (change_inner_function, False)]
)
def test_a_change_within_the_call_is_seen(change, serves, taken):
    f = own(f"within {serves}", TEXT.replace("    s = 0.0\n", "    s = 0.0\n    change()\n"))
    f.__globals__["change"] = lambda: None
    value_and_grad(f)(X)
    assert taken == [True]
    f.__globals__["change"] = lambda: change(f)
    assert value_and_grad(f)(X)[0] == f(X)
    assert taken[1] or not serves


@pytest.mark.plain
def test_captured_variables_are_seen(taken):
    rate = 0.5

    def made():
        def g(u):
            return rate * u * u

        return g

    f = own(
        "captured",
        "def f(x):\n    s = 0.0\n    for i in range(5):\n        s += g(x[i])\n    return s\n",
        g=made(),
    )
    for _ in range(2):
        agrees(f, X)
        rate += 0.25
    assert taken[:2] == [True, True]


@pytest.mark.plain
def test_a_rule_precedes_the_body(taken):
    f = own("rule", TEXT)
    value_and_grad(f)(X)

    @from_vjp(f.__globals__["g"])
    def g_rule(u):
        return 7.0 * u, lambda dy: (7.0 * dy,)

    assert_allclose(value_and_grad(f)(X)[1], 7.0)
    assert taken == [True, False]


def test_under_a_context_of_the_user_loops_run_as_they_are_written():
    f = own("context", TEXT)
    assert Context().run(f, X) == f(X)


@pytest.mark.plain
@pytest.mark.without_modes("a record keeps alive what must go")
def test_a_region_keeps_no_function_alive():
    f = own("alive", TEXT)
    value_and_grad(f)(X)
    gone = weakref.ref(f.__globals__["g"]), weakref.ref(f)
    del f
    gc.collect()
    assert [r() for r in gone] == [None, None]


def test_functions_of_libraries_are_none_of_the_users():
    assert callees.is_own(reaction)
    for f in (np.linalg.norm, np.full, grad, textwrap.dedent, math.sin, 3):
        assert not callees.is_own(f)
