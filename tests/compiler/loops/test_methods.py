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


def agrees_along_the_first(f):
    v = np.array([1.0, -0.5, 0.2, 0.3, 2.0])
    g = grad(f)
    assert_allclose(jvp(f, (X, 0.7), (v, None))[1], g(X, 0.7) @ v, rtol=1e-12)
    h = 1e-6
    expected = (g(X + h * v, 0.7) - g(X - h * v, 0.7)) / (2 * h)
    assert_allclose(hvp(f, (X, 0.7), v), expected, rtol=1e-5, atol=1e-7)


def energy(x, a):
    return Spring(a, x * 1.0).run()


@pytest.mark.plain
def test_methods_are_part_of_the_loop(taken):
    agrees(energy, X, 0.7)
    assert taken == [True, True, False]
    agrees_along_the_first(energy)


@pytest.mark.plain
def test_methods_of_subclasses_are_those_of_the_object():
    agrees(lambda x, a: Stiff(a, x * 1.0).run() + Spring(a, x * 0.5).run(), X, 0.7)


@pytest.mark.plain
def test_classes_with_reads_of_their_own_take_the_general_way(taken):
    agrees(lambda x, a: Counted(a, x * 1.0).run(), X, 0.7)
    assert not any(taken)


@pytest.mark.plain
def test_methods_of_an_object_that_is_passed_or_made_before(taken):
    def run(spring, x):
        s = 0.0
        for i in range(5):
            s += spring.force(x[i]) + s * spring.damping(0.1 * s)
        return s

    def made(x, a):
        spring = Spring(a, x)
        s = 0.0
        for i in range(5):
            s += spring.force(x[i], shift=0.5 * s)
            spring.v = 0.9 * spring.v + 0.1 * s
        return s + spring.v

    agrees(lambda x, a: run(Stiff(a, x), x) * run(Spring(a, x), x), X, 0.7)
    assert taken[:4] == [True] * 4
    taken.clear()
    agrees(made, X, 0.7)
    assert taken[:2] == [True, True]


@pytest.mark.plain
def test_functions_that_an_object_has(taken):
    class Solver:
        def __init__(self, f):
            self.f, self.h = f, 0.1

        def run(self, y):
            for _ in range(9):
                y = y + self.h * self.step(y)
            return y

        def step(self, y):
            return self.f(y) * self.f(0.5 * y)

    def f(x, a):
        return Solver(lambda y: -a * y + x[1]).run(x[0]) + Solver(lambda y: y * y).run(a)

    agrees(f, X, 0.7)
    assert taken[:4] == [True] * 4


@pytest.mark.plain
def test_an_attribute_that_becomes_another_function():
    class Solver:
        def __init__(self, f, g):
            self.f, self.g = f, g

        def run(self, y):
            for i in range(9):
                y = y + 0.1 * self.f(y)
                if i % 3 == 0:
                    self.f, self.g = self.g, self.f
            for _ in range(3):
                y = y * self.f(y)
            return y

    def f(x, a):
        solver = Solver(lambda y: -a * y + x[1], lambda y: np.sin(y))
        return solver.run(x[0]) + solver.run(0.5)

    agrees(f, X, 0.7)


@pytest.mark.plain
def test_a_method_that_is_passed_has_its_object():
    """Its first argument is no argument of the call: the object was left out once."""

    def apply(g, u):
        return g(u) * 0.1

    class Scale:
        def scaled(self, x=1.0):
            return x * 2.0

        def run(self, y):
            for _ in range(5):
                y = y + apply(self.scaled, y)
            return y

    agrees(lambda x, a: Scale().run(a) * x[0], X, 0.7)


@pytest.mark.plain
def test_classes_that_make_something_else():
    class Odd:
        def __new__(cls, x):
            return x if x > 1.0 else super().__new__(cls)

        def scaled(self, y):
            return 2.0 * y

    class Other:
        def scaled(self, y):
            return 3.0 * y

    text = """
def f(x, a):
    o = Odd(a)
    s = 0.0
    for i in range(4):
        s += o.scaled(x[i])
    return s
"""
    f = function_of("import numpy as np\n" + text, "<odd>")
    f.__globals__.update(Odd=Odd)
    agrees(f, X, 0.7)
    f.__globals__.update(Odd=lambda x: Other())
    agrees(f, X, 0.7)


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
def test_other_methods(name):
    agrees(lambda x: getattr(Spring(0.5, x * 1.0), name)(), X)


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


def integrate(f, y, n=9, h=0.1):
    for _ in range(n):
        y = y + h * f(y)
    return y


@pytest.mark.plain
def test_bound_methods_that_are_passed_or_held(taken):
    class Model:
        def __init__(self, k, c):
            self.k, self.c = k, c

        def rhs(self, y, share=0.5):
            return self.force(y) * share - self.c * y

        def force(self, y):
            return -self.k * y * y

    class Weak(Model):
        def force(self, y):
            return 0.1 * self.k

    class Solver:
        def __init__(self, f):
            self.f = f

        def run(self, y):
            for _ in range(9):
                y = y + 0.1 * self.f(y)
            return y

    def f(x, a):
        strong, weak = Model(x[0], a), Weak(a, x[1])
        y = integrate(strong.rhs, x[2]) + integrate(weak.rhs, a)
        return y + Solver(strong.rhs).run(x[3]) * Solver(weak.rhs).run(x[4])

    agrees(f, X, 0.7)
    assert taken[:8] == [True] * 8
    agrees_along_the_first(f)


@pytest.mark.plain
def test_bound_methods_of_classes_and_with_state():
    class Counted:
        rate = 0.5

        def __init__(self, k):
            self.k, self.calls = k, 0

        def f(self, y):
            self.calls += 1
            return self.k * y

        @classmethod
        def of_class(cls, y):
            return cls.rate * y

        @staticmethod
        def of_none(y):
            return np.sin(y)

    def f(x, a):
        counted = Counted(a)
        y = integrate(counted.f, x[0]) + integrate(Counted.of_class, x[1])
        return y + integrate(counted.of_none, x[2]) + counted.calls

    agrees(f, X, 0.7)
