"""Objects as arguments of compiled functions: attributes that are read, and that are assigned."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.native import site
from mooncake_py.compiler.native.site import report
from mooncake_py.errors import DerivativeDropError
from mooncake_py.tangents.kinds import MutableTangent
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain


class Heat:
    gravity = 9.81

    def __init__(self, u, rate, dt):
        self.u = u
        self.rate = rate
        self.dt = dt
        self.t = 0.0
        self.steps = 0
        self.names = ["u"]
        self.label = "heat"
        self.size = len(u)

    def laplacian(self):
        return self.u[2:] - 2 * self.u[1:-1] + self.u[:-2]

    def step(self):
        self.u[1:-1] += self.rate * self.dt * self.laplacian()
        self.t += self.dt
        self.steps += 1

    def run(self, n):
        for _ in range(n):
            self.step()
        return self.energy()

    def energy(self):
        return np.sum(self.u * self.u) * self.gravity + self.t * self.steps

    def replaced(self, n):
        for _ in range(n):
            self.u = self.u + self.rate * np.sin(self.u)
            self.rate *= 1.1
        return np.mean(self.u)

    def once(self, x):
        self.u = self.u * x
        self.last = np.sum(self.u)
        self.u[0] = 2.0
        return self.last * self.u[1]

    def swapped(self, v):
        self.u, self.v = v * 1.0, self.u
        self.pair = (self.t, self.rate)
        return self.u @ self.v + self.pair[1]

    def of_other_types(self, x):
        self.size = 0
        if x[0] > 0.0:
            self.t = x[0] * self.rate
            self.size = 2.5
        for v in x:
            if v > 0.5:
                self.dt = v
        return self.t * 2.0 + self.size * self.dt

    @staticmethod
    def cube(x):
        return x * x * x

    def branching(self, x):
        if x > self.t:
            self.t = x * self.rate
        else:
            self.t = 0.5
        return self.cube(self.t) + self.size


class Particle:
    def __init__(self, x, v, mass):
        self.x, self.v, self.mass = x, v, mass

    def push(self, force, dt):
        self.v += dt * force / self.mass
        self.x += dt * self.v


class Pair:
    def __init__(self, a, b, k):
        self.a, self.b, self.k = a, b, k

    def run(self, n, dt):
        total = 0.0
        for _ in range(n):
            force = self.k * (self.b.x - self.a.x)
            self.a.push(force, dt)
            self.b.push(-force, dt)
            total += self.kinetic(self.a) + self.kinetic(self.b)
        return total

    def kinetic(self, p):
        return 0.5 * p.mass * p.v * p.v


def called_plainly(method):
    """Return a function that calls a method, then reads the object; it is not compiled."""

    def f(o, *args):
        try:
            y = method(o, *args)
        finally:
            pass
        return y + sum(np.sum(v * 1.0) for v in numbers_in(o))

    return f


def numbers_in(o):
    for v in vars(o).values():
        if isinstance(v, Particle):
            yield from numbers_in(v)
        elif isinstance(v, tuple):
            yield from v
        elif not isinstance(v, (str, list)):
            yield v


def heat():
    return Heat(np.linspace(0.1, 1.0, 6) ** 2, 0.3, 0.1)


def pair():
    return Pair(Particle(0.1, 0.5, 1.5), Particle(1.0, -0.2, 0.7), 2.0)


CASES = {
    "in place": (Heat.run, heat, (3,)),
    "not at all": (Heat.run, heat, (0,)),
    "read": (Heat.energy, heat, ()),
    "replaced in a loop": (Heat.replaced, heat, (3,)),
    "replaced": (Heat.once, heat, (1.5,)),
    "swapped": (Heat.swapped, heat, (np.linspace(1.0, 2.0, 6),)),
    "branch": (Heat.branching, heat, (0.7,)),
    "other types": (Heat.of_other_types, heat, (np.linspace(0.1, 1.0, 4),)),
    "other branch": (Heat.branching, heat, (-0.7,)),
    "objects in objects": (Pair.run, pair, (4, 0.1)),
}


def same(a, b):
    """Compare tangents and values of any structure."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, (tuple, list)):
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, (float, np.ndarray)):
        assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    elif isinstance(a, MutableTangent):
        same(a._fields, b._fields)
    elif hasattr(a, "__dict__"):
        same(vars(a), vars(b))
    else:
        assert a == b


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, tried):
    method, make, args = CASES[name]
    f = called_plainly(method)
    o, p = make(), make()
    value, g = value_and_grad(f, compile=True)(o, *args)
    assert tried == [True], report(method)
    expected, h = value_and_grad(f)(p, *args)
    assert_allclose(value, expected, rtol=1e-12)
    same(g, h)
    same(vars(o), vars(make()))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_forward_mode_and_second_order(name, tried):
    method, make, args = CASES[name]

    def f(x, y):
        o = make()
        if isinstance(o, Heat):
            o.u = o.u * x
            o.rate = o.rate * y
        else:
            o.k, o.a.x = x, y
        return called_plainly(method)(o, *args)

    point, along = (1.2, 0.8), (0.3, -0.5)
    same(jvp(f, point, along, compile=True), jvp(f, point, along))
    same(grad(f, (0, 1), compile=True)(*point), grad(f, (0, 1))(*point))
    same(hvp(f, point, along, (0, 1), compile=True), hvp(f, point, along, (0, 1)))
    assert tried
    assert all(tried)


def test_what_the_class_has_is_asked_again(tried):
    class Rule:
        factor = 2.0

        def __init__(self, x):
            self.x = x

        def value(self):
            return self.scaled() * self.factor

        def scaled(self):
            return self.x * self.x

    f = grad(lambda x: Rule.value(holding(Rule, x)), compile=True)
    assert f(3.0) == 12.0
    Rule.factor = 3.0
    assert f(3.0) == 18.0
    Rule.scaled = lambda self: self.x
    assert f(3.0) == 3.0
    assert tried == [True] * 3
    Rule.x = property(lambda self: 7.0)
    assert f(3.0) == 0.0


def holding(cls, x):
    o = cls.__new__(cls)
    o.__dict__["x"] = x
    return o


def test_what_is_no_plain_attribute_runs_as_without(tried):
    class Lazy:
        def __getattr__(self, name):
            return 2.0

    class Counted:
        def __setattr__(self, name, value):
            self.__dict__[name] = value * 2

    class Slots:
        __slots__ = ("x",)

    def read(o, x):
        return o.x * x

    def assign(o, x):
        o.y = x
        return o.y * x

    for o, f in ((Lazy(), read), (Counted(), assign), (Slots(), assign)):
        if isinstance(o, Slots):
            with pytest.raises(AttributeError):
                grad(f, 1, compile=True)(o, 3.0)
        else:
            assert grad(f, 1, compile=True)(o, 3.0) == grad(f, 1)(o, 3.0)
    assert not tried


def test_one_object_under_two_names(tried):
    def f(a, b, x):
        a.t = x
        b.t = b.t * x
        return a.t * 1.0

    def g(x):
        o = SimpleNamespace(t=1.0)
        return f(o, o, x)

    def h(x):
        return f(SimpleNamespace(t=1.0), SimpleNamespace(t=2.0), x)

    assert grad(g, compile=True)(3.0) == 6.0
    assert tried == [True]
    assert grad(h, compile=True)(3.0) == 1.0
    assert tried == [True] * 2
    assert len(site.known_site(f.__code__).read_so_far()) == 2


@pytest.mark.usefixtures("tried")
def test_order_of_reads_and_writes():
    class Clock:
        def __init__(self, t):
            self.t = t

        def tick(self):
            self.t *= 3.0
            return self.t

        def before(self):
            return self.t + self.tick()

        def augmented(self):
            self.t += self.tick()
            return self.t

        def passed(self):
            return self.later(self.t)

        def later(self, t):
            self.t = 5.0
            return t * self.t

        def kept(self):
            t = self.t
            self.tick()
            return t * self.t

    for name in ("before", "augmented", "passed", "kept"):
        f = getattr(Clock, name)
        for x in (1.0, 2.0):
            a = grad(lambda x: f(Clock(x)), compile=True)(x)  # noqa: B023
            assert a == grad(lambda x: f(Clock(x)))(x), name  # noqa: B023


def test_exceptions_put_the_object_back(tried):
    class Model:
        def __init__(self, u):
            self.u, self.t = u, 0.0

        def run(self, n):
            for i in range(n):
                self.u[i] *= 2.0
                self.t += 1.0
            return np.sum(self.u)

    m = Model(np.ones(3))
    with pytest.raises(IndexError):
        grad(Model.run, compile=True)(m, 4)
    assert tried == [False]
    plain = Model(np.ones(3))
    with pytest.raises(IndexError):
        grad(Model.run)(plain, 4)
    same(copy.copy(vars(m)), vars(plain))


def test_two_objects_with_one_state(tried):
    def f(a, b, x):
        a.rate = x
        b.rate = a.rate * 2.0
        return a.rate * b.rate

    u = np.ones(3)
    a, b = Heat(u, 0.5, 0.1), Heat(u, 0.25, 0.1)
    b.__dict__ = a.__dict__
    assert grad(f, 2, compile=True)(a, b, 3.0) == grad(f, 2)(a, b, 3.0) == 24.0
    assert not tried


@pytest.mark.usefixtures("tried")
def test_objects_of_many_types_are_not_read_for_ever(monkeypatch):
    read = []
    original = site.read_function

    def noted(f, types):
        read.append(types)
        return original(f, types)

    monkeypatch.setattr(site, "read_function", noted)

    def f(o, x):
        try:
            return x * len(o.name)
        finally:
            pass

    for k in range(60):
        o = SimpleNamespace(name="a" * k)
        assert grad(f, 1, compile=True)(o, 2.0) == k
    assert len(read) < 40


def test_finalizers_that_write_are_refused(tried):
    ended = []

    class Ending:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            ended.append(1)

    def f(x):
        return Ending(x).x * 2.0

    with pytest.raises(DerivativeDropError, match="__del__ changes something"):
        grad(f, compile=True)(3.0)
    assert tried == []


class Ball:
    def __init__(self, x, r):
        self.x = x
        self.r = r
        self.count = 0.0

    @property
    def volume(self):
        return self.r**3 * 4.0

    @property
    def moment(self):
        m = self.volume * self.x
        m[0] *= 2.0
        return m

    @property
    def counted(self):
        self.count += self.r
        return self.count

    def energy(self, n):
        s = 0.0
        for _ in range(n):
            self.r *= 1.1
            s += self.volume * np.sum(self.moment**2)
        s += self.counted
        t = self.counted
        return s * t + self.moment[1]


def made_within(x, r):
    ball = Ball(x, r)
    ball.x = ball.moment
    return ball.volume * ball.moment @ x


def test_properties(tried):
    def run(x, r, n=2):
        return Ball(x, r).energy(n)

    def of_one(ball):
        return ball.energy(2)

    x = np.array([0.5, -1.0, 2.0])
    for f in (made_within, run):
        value, g = value_and_grad(f, (0, 1), compile=True)(x, 1.5)
        expected, h = value_and_grad(f, (0, 1))(x, 1.5)
        assert_allclose(value, expected)
        for a, b in zip(g, h, strict=True):
            assert_allclose(a, b)
    found, expected = (grad(of_one, compile=way)(Ball(x.copy(), 1.5)) for way in (True, False))
    assert_allclose(found.x, expected.x)
    assert_allclose(found.r, expected.r)
    assert tried == [True] * 3


def test_properties_that_write_within_expressions(tried):
    def f(ball):
        return ball.count * 2.0 + ball.counted * ball.count

    found, expected = (grad(f, compile=way)(Ball(np.ones(2), 1.5)) for way in (True, False))
    assert_allclose(found.r, expected.r)
    require_compiled(f, tried)
