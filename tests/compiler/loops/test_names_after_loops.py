"""What the names of a loop are bound to after it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import value_and_grad
from tests.compiler.comparing import agrees
from tests.programs.comparing import function_of

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


def test_types_after_the_loop():
    def f(x, a):
        k = s = 0
        t = u = a
        w = 1
        for i in range(1, 5):
            k = k + i
            s += x[i]
            t = t * 2
            u = np.sin(u)
            if x[i] > 100.0:
                w = x[i]
            for j in range(i - 1):
                v = a * j
        kinds = [type(q).__name__ for q in (i, j, k, s, t, u, w, v)]
        return s + t + u + w + v + k, kinds

    (value, kinds), g = value_and_grad(f, (0, 1), has_aux=True)(X.copy(), 0.5)
    assert (value, kinds) == f(X.copy(), 0.5)
    assert_array_equal(g[0], [0, 1, 1, 1, 1])
    assert_allclose(g[1], 16 + np.cos(np.sin(np.sin(np.sin(0.5)))) * np.cos(np.sin(np.sin(0.5)))
                    * np.cos(np.sin(0.5)) * np.cos(0.5) + 2)  # fmt: skip


@pytest.mark.parametrize("first", ["x[0]", "a", "1"])
def test_a_counter_that_was_no_int_before(first):
    # It took the type that it had before, and the cotangent of what it is after the loop.
    f = function_of(
        "def f(x, a):\n"
        f"    j = {first}\n"
        "    s = 0.0\n"
        "    for i in range(4):\n"
        "        for j in range(i):\n"
        "            s += x[j] * a\n"
        "    return s * j\n",
        f"<counter from {first}>",
    )
    agrees(f, X, 0.3)


def test_names_that_no_pass_binds_stay_unbound():
    def f(x):
        t = 1.0
        for i in range(5):
            if x[i] > 100.0:
                s = x[i]
            t *= x[i]
        try:
            return s
        except UnboundLocalError:
            return t

    agrees(f, X)


def test_names_that_are_deleted():
    def f(x):
        s, t = 1.0, 2.0
        del s
        try:
            for i in range(5):
                if x[i] < 0.0:
                    s = x[i]
                t *= s
        except UnboundLocalError:
            return t * x[3]
        return t

    agrees(f, X)


def test_counters_after_the_loop():
    def f(x):
        s = 0.0
        for i in range(5):
            for i in range(3):
                s += x[i]
            s += x[i] * i
        for j in range(4):
            s += x[j] * i
        return s * j * i

    agrees(f, X)


def test_ranges_whose_bounds_change_within():
    def f(x):
        n, s = 2, 0.0
        for i in range(4):
            for j in range(n):
                n = (n + 1) % 5
                s += x[j] * n * x[n]
            for k in range(n):
                s += x[k] * x[n]
            n = (n + i) % 5
            x[n] += s * 0.1
        return s * n + np.sum(x)

    agrees(f, X)


@pytest.mark.without_modes("the loops that ran are counted")
def test_counters_that_later_loops_bind_again(taken):
    # The first loop was left alone: its counter `i` may not be bound after it.
    def f(x):
        y = np.zeros(5)
        for j in range(5):
            for i in range(j + 1, 5):
                t = x[i] * x[j]
                y[i] += t * np.sin(t)
        s = 0.0
        for i in range(5):
            t = y[i] * x[i]
            s += t * t * i
        return s

    value_and_grad(f)(X.copy())
    assert taken == [True, True]
    agrees(f, X)


def test_what_a_loop_of_no_passes_leaves_as_it_was():
    def f(x, n):
        t, i = x[0] * x[1], 1
        for j in range(4):
            for i in range(j + 1, 5):
                t = x[i] * x[j] + t
        for i in range(n):
            t = t * x[i]
        return t * x[i]

    for n in (0, 3):
        agrees(lambda x, n=n: f(x, n), X)
