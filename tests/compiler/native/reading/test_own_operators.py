"""Operators of classes of the program's, in compiled functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad
from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __rmul__(self, k):
        return Vector(k * self.x, 2.0 * k * self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __abs__(self):
        return math.sqrt(self @ self)

    def __iter__(self):
        return iter((self.x, self.y))

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __eq__(self, other):
        return isinstance(other, Vector) and self.x == other.x and self.y == other.y

    def __float__(self):
        return float(self.x)

    __hash__ = None


class Own(Vector):
    """Asked first where a `Vector` is on the left, if it reflects an operator otherwise."""

    def __add__(self, other):
        return Vector.__add__(self, other) * 3.0

    def __radd__(self, other):
        return Own(other.x * self.x, self.y)

    def __mul__(self, k):
        return Own(self.x + k, self.y)


class Account:
    def __init__(self, value):
        self.value = value
        self.log = (1.0, value)

    def __iadd__(self, other):
        self.value += other
        return self

    def __isub__(self, other):
        return NotImplemented

    def __sub__(self, other):
        return Account(self.value - other)

    def __getitem__(self, k):
        return self.log[k] * self.value

    def __setitem__(self, k, v):
        self.value = v * (k + 1)

    def __len__(self):
        return len(self.log)

    def __contains__(self, k):
        return k < 2

    def __bool__(self):
        return bool(self.value > 0.0)


def arithmetic(x, a):
    u, v = Vector(x[0], x[1]), Vector(a, x[2])
    w = u * a + 2.0 * v - u
    w += v
    w *= x[3]
    total = u @ v + abs(w) + sum([u, v, w]) @ w
    for t in w:
        total += t * t
    p, q = u
    return total + p * q + float(w)


def derived(x, a):
    u, v = Vector(x[0], x[1]), Own(a, x[2])
    y = u + v
    z = v + u
    k = v * x[3]
    m = 2.0 * v
    return y @ z + k @ m + (v + v).x


def comparisons(x, a):
    u, v = Vector(x[0], x[1]), Own(a, x[2])
    total = 0.0
    if u < v:
        total += abs(v)
    if u > v:
        total += abs(u) * 10.0
    same = Vector(x[0], x[1])
    total += 3.0 * a if u == same else 5.0
    total += 7.0 * a if u != v else 11.0
    return total + (a if u == 1.0 else x[0]) + (a if u != None else 1.0)  # noqa: E711


def containers(x, a):
    account = Account(x[0])
    other = account
    other += a
    account -= x[1]
    y = account[1] * len(account) + other.value
    other[1] = x[2]
    other[0] += a
    if account:
        y = y * 2.0
    if not other:
        y += 100.0
    y += a if 1 in account else 50.0
    y += 70.0 if 3 in account else x[3]
    return y + other.value * bool(account)


def loops(x, a):
    total = Vector(0.0, 0.0)
    step = Vector(a, x[1])
    for v in x:
        total = total + step * v
        if total < step:
            total += step
    return abs(total)


@pytest.mark.parametrize(
    "f", [arithmetic, derived, comparisons, containers], ids=lambda f: f.__name__
)
def test_every_mode(f: Any, tried: list[bool]) -> None:
    require_whole(f, tried)


@pytest.mark.usefixtures("tried")
def test_objects_that_a_loop_binds_again() -> None:
    require_agreement(loops)


class Pair:
    def __init__(self, t):
        self.t = t

    def __rmul__(self, other):
        return other * self.t if type(other) is float else 100.0 * self.t

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return (self.t, 2.0 * self.t)[k]


class Scaled:
    def __init__(self, t):
        self.t = t

    def __rmul__(self, other):
        return other * self.t if type(other) is float else 100.0 * self.t


@pytest.mark.usefixtures("tried")
def test_numbers_of_numpy_on_the_left() -> None:
    def f(x, a):
        return (x[0] * Scaled(a)) + np.sum(x[1] * Pair(a)) + 2.0 * Pair(a)

    require_agreement(f)


@pytest.mark.usefixtures("tried")
def test_errors_are_those_of_the_program() -> None:
    def f(x):
        return Vector(x, x) + x

    def g(x):
        return (Account(x) < Account(x)) * x

    for of in (f, g):
        with pytest.raises(TypeError):
            grad(of, compile=True)(2.0)


def test_methods_that_change_between_calls(tried: list[bool]) -> None:
    class Scale:
        def __init__(self, t):
            self.t = t

        def __mul__(self, k):
            return self.t * k

    def f(x):
        return Scale(x) * 3.0 if Scale(x) else 0.0

    g = value_and_grad(f, compile=True)
    assert g(2.0) == (6.0, 3.0)
    Scale.__mul__ = lambda self, k: self.t + k
    assert g(2.0) == (5.0, 1.0)
    Scale.__bool__ = lambda self: False
    assert g(2.0) == (0.0, 0.0)
    assert tried[:2] == [True] * 2


@pytest.mark.parametrize("target", ["q", "h.q", "d['q']", "l[0]"])
def test_in_place_operators_change_the_object_wherever_it_stands(target: str, define) -> None:
    f = define(
        "class Q:\n"
        "    def __init__(self, v): self.v = v\n"
        "    def __add__(self, o): return Q(self.v + 100.0 * o.v)\n"
        "    def __iadd__(self, o):\n        self.v = self.v + o.v\n        return self\n"
        "class H: pass\n"
        "def f(x, y):\n    q = Q(x)\n    h, d, l = H(), {'q': q, 'n': 1.0}, [q, 2.0]\n"
        f"    h.q = q\n    {target} += Q(y)\n    return q.v * x + {target}.v * y\n"
    )
    value, g = value_and_grad(f, (0, 1), compile=True)(1.3, 0.4)
    assert value == f(1.3, 0.4)
    np.testing.assert_allclose(g, [2 * 1.3 + 2 * 0.4, 2 * 1.3 + 2 * 0.4], rtol=1e-14)
