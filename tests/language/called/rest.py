"""Exceptions, attributes that are computed, and the order of evaluation."""

from __future__ import annotations

import abc
import functools

import numpy as np

from mooncake_py import grad
from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()


def g(x):
    return x * 2.0


def g2(x):
    return x * 3.0


def h(x, k=2.0):
    return x * k


class C2:
    def __init__(self, x):
        self.x = x

    def step(self, s):
        return self.x * s

    def other(self, s):
        return self.x + s


class Err(Exception):
    def __init__(self, v, o):
        super().__init__("bad")
        self.v = v
        self.o = o


@program
def raises_object(s):
    raise Err(s * 2.0, C2(s))


@program
def catches(s):
    t = 0.0
    for i in iter(range(3)):
        try:
            raise Err(s * 2.0, C2(s))
        except Err as e:
            t = t + e.v * e.o.x
    return t


class Finalizer:
    log = []

    def __init__(self, x):
        self.x = x

    def __del__(self):
        Finalizer.log.append(1)


@program.changes
def finalizer(s):
    return Finalizer(s).x


class Abs(abc.ABC):
    def __init__(self, x):
        self.x = x

    @abc.abstractmethod
    def f(self): ...


@program
def abstract(s):
    Abs(s)
    return s


@program
def float_methods(s):
    t = s
    for i in iter(range(3)):
        t = t + s.conjugate() + s.real
    return t


@program
def cached(s):
    class A:
        def __init__(self, x):
            self.x = x

        @functools.cached_property
        def y(self):
            return self.x * 2.0

    t = 0.0
    for i in iter(range(3)):
        a = A(s)
        t = t + a.y + a.y

    @functools.lru_cache
    def f(n):
        return n * 2.0

    return t + f(3) + f(3)


@program
def wrapped(s):
    def deco(f):
        @functools.wraps(f)
        def w(*a, **k):
            return f(*a, **k) * 2.0

        return w

    @deco
    def f(x):
        return x * 3.0

    for i in iter(range(3)):
        s = f(s)
    return s


@program
def order_of_evaluation(s):
    log = []

    def say(x):
        log.append(x)
        return x

    class A:
        def __getattr__(self, n):
            log.append(n)
            return lambda *a: len(log) * 1.0

    a = A()
    t = s
    for i in iter(range(2)):
        t = t * a.foo(say(1.0), say(2.0))
        t = t + [g, g2][say(0)](say(3.0))
    return t + len(log)


@program
def args_change_function(s):
    def bad(x):
        h.__defaults__ = (4.0,)
        return x

    t = h(s)
    t = t + h(bad(s))
    h.__defaults__ = (2.0,)
    return t


@program
def args_change_method(s):
    class A:
        def __init__(self, x):
            self.x = x

        def step(self, s):
            return self.x * s

    a = A(s)

    def bad(x):
        A.step = lambda self, s: s * 100.0
        return x

    t = a.step(s)
    t = t + a.step(bad(s))
    return t + a.step(s)


@program
def inner_grad(s):
    t = 0.0
    for i in iter(range(3)):
        t = t + grad(lambda x: g(x) * C2(x).step(x))(s)
    return t


@program
def numpy_own(s):
    a = np.array([1.0, 2.0, 3.0]) * s

    class A:
        def __init__(self, a):
            self.a = a

        def norm(self):
            return np.sqrt((self.a * self.a).sum())

    t = 0.0
    for i in iter(range(3)):
        o = A(a * (i + 1.0))
        o.a[0] = t
        t = t + o.norm()
    return t


@program
def array_class(s):
    class Arr:
        def __init__(self, x):
            self.x = x

        def __array__(self, dtype=None, copy=None):
            return np.asarray([1.0, 2.0])

    t = s
    for i in iter(range(2)):
        o = Arr(s)
        t = t * float(np.sum(np.array([1.0, 2.0]) * 2.0)) + g(s)
    return t + np.sum(np.add(o, 1.0)) * s
