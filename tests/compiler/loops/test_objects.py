"""Attributes of attributes, namespaces and named tuples in loops, and elements of rows."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp, value_and_grad
from tests.compiler.comparing import agrees

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


@dataclass
class Parameters:
    rate: Any
    table: Any
    count: int = 5


@dataclass
class Model:
    p: Parameters
    v: Any = 0.5

    def run(self, x):
        for i in range(self.p.count):
            self.v += self.p.rate * x[i] * self.p.table[i]
            self.p.table[i - 1] = self.v * scaled(self.p, x[i])
        return self.v


def scaled(p, u):
    return p.rate * u + p.table[0]


def deep(o, u):
    return o.p.rate * u


@pytest.mark.plain
def test_attributes_of_attributes(taken):
    def f(x, a):
        m = Model(Parameters(a * 2.0, x * a))
        s = m.run(x)
        for i in range(5):
            s += deep(m, x[i]) * m.p.table[i]
        return s + np.sum(m.p.table)

    agrees(f, X, 0.7)
    assert taken[:4] == [True, True, True, True]
    v = np.array([1.0, -0.5, 0.2, 0.3, 2.0])
    expected = value_and_grad(f)(X, 0.7)[1] @ v
    assert_allclose(jvp(f, (X, 0.7), (v, None))[1], expected, rtol=1e-12)


@pytest.mark.plain
def test_an_object_on_the_way_that_runs_code(taken):
    class Counted:
        def __init__(self, p):
            self.held = p
            self.reads = 0

        @property
        def p(self):
            self.reads += 1
            return self.held

    def f(x):
        c = Counted(Parameters(0.5, x))
        s = 0.0
        for i in range(5):
            s += c.p.rate * x[i] * c.p.table[i]
        return s * c.reads

    agrees(f, X)
    assert taken[0]


@pytest.mark.plain
def test_an_object_on_the_way_that_is_missing(taken):
    def f(x, o):
        s = 0.0
        try:
            for i in range(5):
                s += x[i]
                if i == 3:
                    s += o.p.rate
        except AttributeError:
            s *= 2.0
        return s

    agrees(lambda x: f(x, SimpleNamespace()), X)
    agrees(lambda x: f(x, SimpleNamespace(p=None)), X)
    assert not any(taken)


@pytest.mark.plain
def test_two_ways_to_one_object(taken):
    def f(x):
        p = Parameters(x[0], x)
        m = Model(p)
        s = 0.0
        for i in range(5):
            p.rate = p.rate * 0.5 + x[i]
            s += m.p.rate
        return s * p.rate

    agrees(f, X)
    assert taken[0]


@pytest.mark.plain
def test_namespaces_and_named_tuples(taken):
    def f(x, a):
        o = SimpleNamespace(k=a, v=x[0], w=x * a, p=Pair(a, 2.0))
        t = Pair(x[1], o)
        for i in range(5):
            o.v += o.k * x[i] * t.a + o.p.b
            o.w[i] *= o.v
            o.k *= 0.9
        return o.v * o.k + np.sum(o.w)

    agrees(f, X, 0.7)
    assert taken == [True, True, False]


Pair = namedtuple("Pair", "a b")


@pytest.mark.plain
def test_a_namespace_that_is_a_subclass_with_code(taken):
    class Halved(SimpleNamespace):
        def __getattribute__(self, name):
            value = super().__getattribute__(name)
            return value * 0.5 if name == "k" else value

    def f(x):
        o = Halved(k=3.0)
        s = 0.0
        for i in range(5):
            s += o.k * x[i]
        return s

    agrees(f, X)
    assert not any(taken)


@pytest.mark.plain
def test_elements_of_rows(taken):
    def f(x):
        m = np.outer(x, x)
        order = [[1, 0], [2, 2]]
        for i in range(1, 5):
            for j in range(5):
                m[i][j] += m[i - 1][j] * m[i, -j]
                if m[i][j] > 0.5:
                    m[i][j - 1] *= 0.9
        return np.sum(m) * order[0][0]

    agrees(f, X)
    assert taken[:2] == [True, True]


def test_elements_of_lists_in_lists_take_the_general_way():
    def f(x):
        m = [[x[0], 2.0], [x[1], x[2]]] * 2
        s = 0.0
        for i in range(4):
            for j in range(2):
                s += m[i][j] * x[i]
        return s

    agrees(f, X)
    assert_allclose(grad(f)(X)[4], 0.0)
