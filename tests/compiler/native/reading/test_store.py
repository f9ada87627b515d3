"""One store for variables, attributes and items: jumps out of loops, branches, calls within."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, -0.7, 1.9, 0.4, -1.2])


class Count:
    def __init__(self, x):
        self.total = 0.0
        self.hits = 0
        self.last = x * 1.0

    def add(self, v):
        if v > 1.0:
            self.hits += 1
            self.total += v * v
            return v
        self.total += v
        return v * 2.0


def changed_only_where_it_leaves(x):
    o = Count(x)
    s = 1.0
    pair = (0.0, 1.0)
    for v in x:
        if v > 1.0:
            s += v * 3.0
            o.total += v * s
            o.last = x * v
            pair = (v, v * v)
            break
        o.total += 0.5 * v
    return s * o.total + np.sum(o.last) + pair[1]


def changed_before_the_next_pass(x):
    o = Count(x)
    for v in x:
        if v < 0.0:
            o.total += v * v
            continue
        o.last = o.last * v
        o.total *= 1.5
    return o.total + np.sum(o.last * x)


def left_within_a_loop_within(x):
    o = Count(x)
    for v in x:
        for w in x:
            if w > v:
                o.total += w * v
                break
        if o.total > 2.0:
            o.total *= v
            break
    return o.total * x[0]


def changed_by_methods_on_both_sides(x):
    o = Count(x)
    s = 0.0
    for v in x:
        if v > 0.0:
            s += o.add(v)
        else:
            s -= o.add(v * v)
        if s > 1.0:
            o.last = x * s
        else:
            o.last = o.last * v
    return s + o.total * o.hits + np.sum(o.last)


def an_attribute_that_the_callee_gives_back(x):
    o = Count(x)

    def doubled(p):
        if x[0] > 0.0:
            p.last = x * 2.0
            return p.last
        p.last = x * 3.0
        return p.last

    y = doubled(o)
    y[0] = 5.0
    return o.last[0] * x[1]


def variables_of_a_function_that_has_ended(x):
    def scaled(a):
        b = a * x[0]

        def apply(v):
            return b * v + a

        return apply

    f, g = scaled(2.0), scaled(x[1])
    return f(x[2]) * g(x[3])


COMPILED = (
    changed_only_where_it_leaves,
    changed_before_the_next_pass,
    left_within_a_loop_within,
    changed_by_methods_on_both_sides,
    variables_of_a_function_that_has_ended,
)


@pytest.mark.parametrize("f", [*COMPILED, an_attribute_that_the_callee_gives_back])
def test_as_in_plain_python(f, tried):
    for x in (X, -X, 0.1 * X):
        value, g = value_and_grad(f, compile=True)(x.copy())
        expected, h = value_and_grad(f)(x.copy())
        assert value == expected == f(x.copy())
        assert_allclose(g, h, rtol=1e-13)
    if f in COMPILED:
        require_compiled(f, tried)


def test_attributes_of_the_caller_changed_where_a_loop_is_left(tried):
    def f(o, x):
        for v in x:
            o.t += v
            if o.t > 1.0:
                o.t = v * 5.0
                o.u = o.u * v
                break
        return o.t + np.sum(o.u)

    for x in (X, -X):
        ways = []
        for compiles in (False, True):
            o = SimpleNamespace(t=0.5, u=np.ones(2))
            ways.append(value_and_grad(f, 1, compile=compiles)(o, x))
            assert o.t == 0.5
        assert ways[0][0] == ways[1][0]
        assert_allclose(ways[0][1], ways[1][1], rtol=1e-13)
    require_compiled(f, tried)
