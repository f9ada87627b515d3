"""Loops that call functions of modules by names of their own, as one entry."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from numpy import dot, exp
from numpy.linalg import norm
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad
from tests.compiler.comparing import agrees

X = np.array([0.4, -0.3, 0.8, 0.2])


def stepped(x, n):
    for i in range(n):
        x[i] = x[i] * cos(x[i - 1]) + exp(-x[i])
    return dot(x, x) + norm(x)


def on_arrays(x, n):
    for _ in range(n):
        x = x + 0.1 * exp(-x)
    return norm(x)


def by_a_function(x, n):
    s = 0.0
    for i in range(n):
        s = s + bent(x[i])
    return s


def bent(v):
    return sin(v) * v


def by_a_nested_function(x, n):
    def own(v):
        return sin(v) * v

    s = 0.0
    for i in range(n):
        s = s + own(x[i])
    return s


@pytest.mark.plain
@pytest.mark.parametrize("f", [stepped, on_arrays, by_a_function, by_a_nested_function])
def test_loops_are_one_entry(f, taken, printed):
    n = 40 if f is on_arrays else 4
    agrees(f, X.copy(), n)
    assert any(printed if f is on_arrays else taken)
    v = np.linspace(-1.0, 1.0, 4)
    g = grad(f)
    assert_allclose(jvp(lambda x: f(x, n), (X.copy(),), (v,))[1], g(X.copy(), n) @ v, rtol=1e-11)
    ends = [g(X + h * v, n) for h in (1e-6, -1e-6)]
    found = hvp(lambda x: f(x, n), (X.copy(),), v)
    assert_allclose(found, (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-8)


def with_modules_of_its_own(x, n):
    import math

    import numpy as np
    import numpy.linalg as la

    def own(v):
        return math.sin(v) * v

    s = 0.0
    for i in range(n):
        s = s + math.cos(x[i]) * np.exp(-x[i]) + own(x[i])
    return s * np.sum(x) + la.norm(x)


@pytest.mark.plain
def test_imports_in_the_function(taken):
    agrees(with_modules_of_its_own, X.copy(), 4)
    assert any(taken)


def test_names_of_modules_that_may_be_something_else():
    class Scaled:
        sin = staticmethod(lambda v: 3.0 * v)

    def chosen(x, flag):
        import math

        if flag:
            math = Scaled
        return math.sin(x)

    def late(x):
        try:
            y = math.sin(x)  # noqa: F821  # pyright: ignore[reportUnboundVariable]
        except UnboundLocalError:
            y = 2.0 * x
        import math

        return y * math.cos(x)

    def within(x):
        import math

        def f(math):
            return math.sin(x)

        return f(Scaled) * math.sin(x)

    assert grad(chosen)(0.5, True) == 3.0
    assert grad(chosen)(0.5, False) == np.cos(0.5)
    assert_allclose(grad(late)(0.5), 2.0 * np.cos(0.5) - np.sin(0.5))
    assert_allclose(grad(within)(0.5), 3.0 * np.sin(0.5) + 1.5 * np.cos(0.5))


def with_modules_of_the_function_around():
    import math

    import numpy as np

    def inner(x, n):
        s = 0.0
        for i in range(n):
            s = s + math.cos(x[i]) * np.exp(-x[i])
        return s * np.sum([np.sin(v) for v in x])

    return inner


@pytest.mark.plain
def test_imports_in_the_function_around(taken):
    agrees(with_modules_of_the_function_around(), X.copy(), 4)
    assert any(taken)


class Tripled:
    sin = staticmethod(lambda v: 3.0 * v)


def test_captured_names_that_may_be_something_else():
    def rebound(x):
        import math

        def replace():
            nonlocal math
            math = Tripled

        def total():
            return sum([math.sin(x * i) for i in range(2)])

        before = total()
        replace()
        return before + total()

    def default(x):
        math = Tripled

        def f(g=lambda v: math.sin(v)):
            import math

            return g(x) * math.sin(x)

        return f()

    def in_the_middle(x):
        import math

        def middle():
            math = Tripled

            def f():
                return sum([math.sin(x) for _ in range(2)])

            return f()

        return middle() * math.sin(x)

    def late(x):
        def f(n):
            return x * (1 + len([math.sin(x) for _ in range(n)]))

        none = len([math.sin(x) for _ in range(0)]) + f(0)  # noqa: F821  # pyright: ignore[reportUnboundVariable]
        import math

        return none * f(2)

    for f in (rebound, default, in_the_middle, late):
        assert value_and_grad(f)(0.5)[0] == f(0.5)
    assert_allclose(grad(rebound)(0.5), np.cos(0.5) + 3.0)
    assert_allclose(grad(default)(0.5), 3.0 * np.sin(0.5) + 1.5 * np.cos(0.5))
    assert_allclose(grad(in_the_middle)(0.5), 6.0 * np.sin(0.5) + 3.0 * np.cos(0.5))
    assert grad(late)(0.5) == 3.0
