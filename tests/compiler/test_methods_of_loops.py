"""Methods that loops of a method call on its own object."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad
from tests.compiler.comparing import agrees
from tests.programs.comparing import function_of

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


class Spring:
    drag = 0.1

    def __init__(self, k, x):
        self.k = k
        self.x = x
        self.v = 0.5

    def force(self, u, scale=1.0, *, shift=0.0):
        if u > 1.5:
            return -self.k
        return -self.k * u * scale - self.damping(self.v) + shift

    def damping(self, v):
        return self.drag * v * abs(v)

    def both(self, i):
        return self.force(self.x[i]), self.x[i - 1] * self.k

    def move(self, i, h):
        self.x[i] += h * self.v

    def __private(self, u):
        return u

    def run(self):
        def pulled(u):
            return self.force(u, 0.5)

        for i in range(5):
            self.v += 0.1 * self.force(self.x[i], shift=0.2) + pulled(self.v)
            if self.damping(self.v) > 0.01:
                self.v *= 0.9
            s, t = self.both(i)
            self.v += 0.1 * s * t
            self.move(i, 0.1)
        return self.v * np.sum(self.x)

    def run_private(self):
        s = 0.0
        for i in range(5):
            s += self.__private(self.x[i])
        return s

    def run_stored(self):
        s = 0.0
        for i in range(5):
            s += self.damping(self.x[i])
            self.damping = lambda u: 2.0 * u
        return s


class Stiff(Spring):
    def damping(self, v):
        return 2.0 * v


class Counted(Spring):
    reads = 0

    def __getattribute__(self, name):
        if name == "k":
            Counted.reads += 1
        return super().__getattribute__(name)


def energy(x, a):
    return Spring(a, x * 1.0).run()


@pytest.mark.plain
def test_methods_are_part_of_the_loop(taken):
    agrees(energy, X, 0.7)
    assert taken == [True, True, False]
    v = np.array([1.0, -0.5, 0.2, 0.3, 2.0])
    g = grad(energy)
    assert_allclose(jvp(energy, (X, 0.7), (v, None))[1], g(X, 0.7) @ v, rtol=1e-12)
    h = 1e-6
    expected = (g(X + h * v, 0.7) - g(X - h * v, 0.7)) / (2 * h)
    assert_allclose(hvp(energy, (X, 0.7), v), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.plain
@pytest.mark.parametrize("cls", [Stiff, Counted])
def test_subclasses_take_the_general_way(cls, taken):
    agrees(lambda x, a: cls(a, x * 1.0).run(), X, 0.7)
    assert not any(taken)


@pytest.mark.plain
def test_an_attribute_of_the_object_comes_first(taken):
    def f(x):
        o = Spring(0.5, x * 1.0)
        o.damping = lambda u: 3.0 * u
        return o.run()

    agrees(f, X)
    assert not any(taken)


@pytest.mark.plain
@pytest.mark.parametrize("name", ["run_private", "run_stored"])
def test_what_is_none_of_the_loop(name, taken):
    agrees(lambda x: getattr(Spring(0.5, x * 1.0), name)(), X)
    assert not any(taken)


TEXT = """
class Model:
    def g(self, u):
        return u * u
    def run(self, x):
        s = 0.0
        for i in range(5):
            s += self.g(x[i])
        return s
def f(x):
    return Model().run(x)
"""


def replace(scope):
    scope["Model"].g = lambda self, u: 3.0 * u


def change_code(scope):
    scope["Model"].g.__code__ = (lambda self, u: 3.0 * u).__code__


def watch(scope):
    scope["Model"].__getattribute__ = lambda self, name: (
        (lambda u: 3.0 * u) if name == "g" else object.__getattribute__(self, name)
    )


@pytest.mark.plain
@pytest.mark.parametrize("change", [replace, change_code, watch])
def test_changes_between_calls_are_seen(change, taken):
    f = function_of(TEXT, f"<methods {change.__name__}>")
    assert_allclose(value_and_grad(f)(X)[1], 2.0 * X)
    assert taken == [True]
    change(f.__globals__)
    assert_allclose(value_and_grad(f)(X)[1], 3.0)
    assert taken == [True, False]
