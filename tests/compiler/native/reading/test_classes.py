"""What objects find in their classes, in compiled functions."""

from __future__ import annotations

from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


class Body:
    gravity = 9.81
    count = 0
    drag = 0.1

    def __init__(self, x, v=0.5):
        self.x = x
        self.v = v

    @classmethod
    def at_rest(cls, x, **named):
        return cls(x, 0.0, **named)

    @staticmethod
    def squared(t):
        return t * t

    @property
    def energy(self):
        return 0.5 * self.squared(self.v) + self.gravity * self.x

    def step(self, dt):
        self.count += 1
        self.v += dt * self.force()
        self.x += dt * self.v
        return self.x

    def force(self):
        return -self.gravity * self.x

    def __call__(self, t):
        return self.x + t * self.v


class Tank:
    def __init__(self):
        self.level = 0
        self.peak = 0

    def fill(self, v):
        self.level = self.level + v
        if self.level > self.peak:
            self.peak = self.level


def of_ints_that_become_floats(x, a):
    tank = Tank()
    for v in x:
        tank.fill(v * a)
    return tank.level * tank.peak


class Damped(Body):
    gravity = 2.0

    def __init__(self, x, v=0.5, damping=0.3):
        super().__init__(x, v)
        self.damping = damping

    def force(self):
        return super().force() - self.damping * self.v

    @classmethod
    def at_rest(cls, x, **named):
        return super().at_rest(x * 2.0, **named)

    @property
    def energy(self):
        return super().energy * Body.gravity


class Mixin:
    def force(self):
        return super().force() * 0.5


class Mixed(Mixin, Damped):
    pass


def inheritance(x, a):
    total = 0.0
    for k, cls in enumerate((Body, Damped, Mixed)):
        body = cls(x[k], a)
        for _ in range(3):
            body.step(0.1)
        total += body.energy * body.count + body(2.0)
    rested = Damped.at_rest(x[3], damping=a)
    return total + rested.step(0.2) + Body.force(rested) + Body.squared(rested.x)


def methods_as_values(x, a):
    one, two = Body(x[0]), Damped(x[1], damping=a)
    step, force = one.step, Damped.force
    step(0.1)
    one.x = one.x * a
    moves = [step, two.step, partial(two.step, 0.2), two.squared]
    y = moves[0](0.1) + moves[1](dt=0.3) + moves[2]() + moves[3](a) + force(two)
    return y * applied(one, 1.5) + applied(two.at_rest, x[2]).energy


def applied(f, *args):
    return f(*args)


class Model:
    def __init__(self, rate, law, body):
        self.rate = rate
        self.law = law
        self.body = body
        self.f = lambda t: rate * t + self.rate

    def run(self, t):
        return self.law(t) * self.f(t) + self.body(t)


def functions_in_attributes(x, a):
    def law(t):
        return a * t * t

    first, second = Model(x[0], law, Body(x[1])), Model(a, np.sin, Body(x[2], a))
    first.rate = 3.0 * a
    y = first.run(x[3]) + second.run(x[2])
    second.law = first.run
    return y * second.run(x[1])


def kept_in_branches(x, a):
    one, two = Body(x[0]), Body(x[1])
    if a > 0.5:
        one.count += 1
        one.drag = a
    for k in range(3):
        if x[k] > 0.0:
            two.drag = two.drag * a + one.drag
            continue
        two.count += 2
    return x[2] * (one.count + 3.0 * two.count) + one.drag * two.drag


class Leaf:
    def __init__(self, value):
        self.value = value

    def evaluate(self, t):
        return self.value * t

    def size(self):
        return 1


class Sum:
    def __init__(self, *parts):
        self.parts = parts

    def evaluate(self, t):
        total = 0.0
        for part in self.parts:
            total += part.evaluate(t)
        return total * t

    def size(self):
        return 1 + sum(part.size() for part in self.parts)


def power(t, n):
    return 1.0 if n == 0 else t * power(t, n - 1)


def tree(depth, t):
    if depth == 0:
        return Leaf(t)
    return Sum(tree(depth - 1, 2.0 * t), Leaf(t * t), tree(depth - 1, t + 1.0))


def recursion(x, a):
    def fibonacci(n):
        return x[n] if n < 2 else fibonacci(n - 1) * a + fibonacci(n - 2)

    root = tree(2, x[0])
    total = power(a, 5) + fibonacci(6)
    for k in range(3):
        total += root.evaluate(x[k])
    return total * root.size()


class OfClasses(type):
    """Classes of which no instance is a descriptor: those have ``__get__`` in the class itself."""

    def __get__(cls, o, owner=None):
        raise AssertionError


class Mark(metaclass=OfClasses):
    pass


class Marked:
    mark = Mark()


def no_descriptor(x, a):
    return x[0] * a if Marked.mark is Marked().mark else x[1]


FUNCTIONS = [
    inheritance, methods_as_values, functions_in_attributes, kept_in_branches, recursion,
    no_descriptor, of_ints_that_become_floats,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_mode(f: Any, tried: list[bool]) -> None:
    require_whole(f, tried)


def test_changes_of_classes_between_calls(tried: list[bool]) -> None:
    class Base:
        def force(self):
            return self.x

    class Own(Base):
        scale = 2.0

        def __init__(self, x):
            self.x = x

        def force(self):
            return super().force() * self.scale

    def f(x):
        return Own(x * x).force()

    g = grad(f, compile=True)
    assert_allclose(g(3.0), 12.0)
    Own.scale = 3.0
    assert_allclose(g(3.0), 18.0)
    Base.force = lambda self: self.x * self.x
    assert_allclose(g(3.0), 324.0)
    Own.x = property(lambda self: 1.0, lambda self, x: None)
    assert_allclose(g(3.0), 0.0)
    assert tried[:3] == [True] * 3


@lru_cache
def remembered(t):
    return t * 2.0


class Lazy:
    def __init__(self, x):
        self.x = x

    @cached_property
    def square(self):
        return self.x**2


def of_cache(x, a):
    return remembered(2.0) * a * x[0]


def of_cached_property(x, a):
    lazy = Lazy(x[0])
    y = lazy.square
    lazy.x = a
    return y * lazy.square


@pytest.mark.parametrize(
    ("f", "why"), [(of_cache, "lru_cache"), (of_cached_property, "cached_property")]
)
@pytest.mark.usefixtures("tried")
def test_what_remembers_is_refused(f: Any, why: str) -> None:
    require_agreement(f)
    assert why in report(f)[0].why
