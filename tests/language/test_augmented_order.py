"""``o[i] op= e`` reads the old value before it computes the new one, as Python does."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([3.0, 1.0])


class Tank:
    def __init__(self, level):
        self.level = level

    @property
    def outflow(self):
        q = 0.5 * self.level[0]
        self.level[0] -= q
        return q


class Remembering:
    def __init__(self, x):
        self.items = list(x)
        self.last = 0

    def __getitem__(self, i):
        self.last = i
        return self.items[i]

    def __setitem__(self, i, v):
        self.items[i] = v


class Changing:
    """Each operator changes element 0."""

    def __init__(self, a):
        self.a = a

    def __getitem__(self, i):
        self.a[0] *= 2
        return self.a[i]

    def __neg__(self):
        self.a[0] *= 3
        return self.a[1]

    def __mul__(self, other):
        self.a[0] += 1
        return self.a[1] * other

    __rmul__ = __mul__

    def __eq__(self, other):
        self.a[0] *= 2
        return True

    __hash__ = None


class Missing(dict):
    def __missing__(self, key):
        self.y[0] *= 3.0
        return 1


@programs(X)
def element_in_an_index(x):
    y = x.copy()
    q = Missing()
    q.y = y
    y[0] += x[q["a"]]
    return y[0]


@programs(X)
def element_in_an_index_of_a_product(x):
    y = x.copy()
    q = Missing()
    q.y = y
    y[0] += x[q["a"]] * 2.0
    return y[0]


@programs(X)
def element_in_an_index_beside_a_name(x):
    t = x[0]

    class Q:
        def __getitem__(self, i):
            nonlocal t
            t = t * 3.0
            return i

    q = Q()
    t += x[q[1]] * 2.0
    return t * x[1]


@programs(X)
def property_of_an_array(x):
    tank = Tank(x.copy())
    tank.level[0] += tank.outflow
    return tank.level[0] ** 2


@programs(X)
def property_of_a_list(x):
    tank = Tank([x[0], x[1]])
    tank.level[0] += tank.outflow
    return tank.level[0] ** 2


@programs(X)
def property_of_a_dict(x):
    tank = Tank({0: x[0]})
    tank.level[0] += tank.outflow * 2
    return tank.level[0] ** 2


@programs(X)
def property_in_a_loop(x):
    tank = Tank(x.copy())
    for _ in range(3):
        tank.level[0] += tank.outflow * x[1] + tank.level[1]
    return tank.level[0] ** 2


@programs(X)
def item_that_remembers(x):
    r = Remembering(x)
    r[1] += r.last * x[0]
    return r[1]


@programs(X)
def item(x):
    a = x.copy()
    q = Changing(a)
    a[0] += q[1]
    return a[0] ** 2


@programs(X)
def unary(x):
    a = x.copy()
    q = Changing(a)
    a[0] += -q
    return a[0] ** 2


@programs(X)
def binary(x):
    a = x.copy()
    q = Changing(a)
    a[0] += 2.0 * q + x[1]
    return a[0] ** 2


@programs(X)
def comparison(x):
    a = x.copy()
    q = Changing(a)
    a[0] += q == 1
    return a[0] ** 2


@programs(X)
def part_of_an_array(x):
    a = x.copy()
    q = Changing(a)
    a[:1] += q * x[1]
    return a[0] ** 2


@programs(X)
def in_a_loop(x):
    a = x.copy()
    q = Changing(a)
    for i in range(3):
        a[i % 2] += q[1] * 0.5
    return a[0] ** 2


@pytest.mark.parametrize("program", programs, ids=str)
def test_order(program: Program) -> None:
    program.check()
