"""``o[i] op= e`` reads the old value before it computes the new one, as Python does.

If both raise, the error of the old value counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
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


# Two errors in one statement: that of the element comes first.


def element_of_an_array(x, j):
    z = x * 1.0
    z[j] -= math.log(0.0 * len(x))
    return z


def product(x, j):
    z = x * 1.0
    z[j] *= x[0] * math.sqrt(-1.0)
    return z


def rows_in_a_loop(x, j):
    z = np.outer(x, x)
    for k in range(2):
        z[j + k] += x[k] * math.log(-1.0)
    return z


def element_of_a_list(x, j):
    z = [x[0], x[1]]
    z[j] += math.log(0.0)
    return z


@pytest.mark.parametrize("j", [0, 9])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(
    "statement", [element_of_an_array, product, rows_in_a_loop, element_of_a_list]
)
def test_error_of_the_element_comes_first(statement: Any, mode: Any, j: int) -> None:
    def first_error(x: Any) -> Any:
        try:
            statement(x, j)
        except (ValueError, IndexError) as error:
            return x[0], (type(error), str(error), error.__context__)
        return x[0], None

    (_, found), _ = value_and_grad(first_error, has_aux=True, mode=mode)(X)
    assert found == first_error(X)[1]
