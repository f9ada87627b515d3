"""Functions that are replaced or changed while they are called."""

from __future__ import annotations

import functools
import math
import weakref

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()


def g(x):
    return x * 2.0


def g2(x):
    return x * 3.0


def h(x, k=2.0):
    return x * k


def kw(x, *, k=2.0):
    return x * k


@program
def global_rebound(s):
    global g
    old = g
    for i in iter(range(4)):
        s = g(s)
        if i == 1:
            g = g2
    g = old
    return s


@program
def code_swapped(s):
    c = h.__code__

    def other(x, k=2.0):
        return x + k

    for i in iter(range(4)):
        s = h(s)
        if i == 1:
            h.__code__ = other.__code__
    h.__code__ = c
    return s


@program
def defaults_changed(s):
    for i in iter(range(4)):
        s = h(s)
        if i == 1:
            h.__defaults__ = (5.0,)
    h.__defaults__ = (2.0,)
    return s


@program
def kwdefaults_changed(s):
    for i in iter(range(4)):
        s = kw(s)
        if i == 1:
            kw.__kwdefaults__ = {"k": 5.0}
    kw.__kwdefaults__ = {"k": 2.0}
    return s


@program
def kwdefaults_in_place(s):
    for i in iter(range(4)):
        s = kw(s)
        if i == 1:
            kw.__kwdefaults__["k"] = 5.0
    kw.__kwdefaults__["k"] = 2.0
    return s


def too_many(n):
    def f(s):
        for i in iter(range(3)):
            s = g(s) if i < 2 else g(*([s] * n))
        return s

    f.__name__ = f"too_many{n}"
    return f


PROGRAMS += [too_many(0), too_many(2)]


@program
def wrong_count(s):
    s = g(s)
    return g(s, s)


@program
def wrong_count2(s):
    for i in iter(range(2)):
        s = h()
    return s


@program
def wrong_keyword(s):
    return h(s, kk=1.0)


@program
def lambdas_in_loop(s):
    for k in [1.0, 2.0, 3.0]:
        f = lambda a: a * k
        s = f(s) + f(s)
    return s


@program
def lambda_defaults(s):
    fs = [lambda a, k=k: a * k for k in (1.0, 2.0, 3.0)]
    for f in iter(fs + fs[::-1]):
        s = f(s)
    return s


@program
def closures_nonlocal(s):
    n = 0.0

    def f(a):
        nonlocal n
        n += 1.0
        return a * n

    for i in iter(range(3)):
        s = f(s)
    return s + n


STATE = {"n": 0.0}


@program.changes
def global_state(s):
    for i in iter(range(3)):
        STATE["n"] = STATE["n"] + s
        s = s * STATE["n"]
    return s


COUNT = 0.0


def counted(x):
    global COUNT
    COUNT += 1.0
    return x * COUNT


@program.changes
def global_count(s):
    for i in iter(range(3)):
        s = counted(s)
    return s


@program
def polymorphic(s):
    class A:
        def __init__(self, x):
            self.x = x

        def __call__(self, a):
            return a * 1.5

    for i, f in enumerate(
        iter(
            [
                g,
                lambda a: a + 1.0,
                A(1.0),
                functools.partial(h, k=3.0),
                math.sin,
                np.cos,
                g2,
                A,
                g,
                lambda a: a * 0.5,
            ]
        )
    ):
        r = f(s)
        s = r if not isinstance(r, A) else r.x * 2.0
    return s


@program
def recursion(s):
    def f(n, x):
        return x if n == 0 else f(n - 1, x * 1.001)

    return f(900, s)


def rec(n, x):
    return x if n == 0 else rec(n - 1, x * 1.001)


@program
def recursion_global(s):
    return rec(900, s)


def gen(x):
    for i in range(3):
        yield x * i


@program
def generators(s):
    t = 0.0
    for i in iter(range(3)):
        for v in gen(s):
            t = t + v
    return t


def fact(k):
    def inner(x):
        return x * k

    return inner


@program
def factories(s):
    fs = [fact(k) for k in (1.0, 2.0, 3.0)]
    for f in iter(fs):
        s = f(s)
    for f in iter(fs):
        s = f(s)
    return s


def assumes(x):
    return np.sin(x)


class Fake:
    @staticmethod
    def sin(x):
        return x * 7.0


@program
def module_name_rebound(s):
    global np
    old = np
    for i in iter(range(4)):
        s = assumes(s)
        if i == 1:
            globals()["np"] = Fake
    globals()["np"] = old
    return s


@program
def function_with_dict(s):
    g.note = 1
    s = g(s)
    s = g(s)
    del g.note
    return s


class Held:
    pass


@program.not_within
def captured_and_dropped(s):
    for k in iter(range(4)):
        o = Held()
        r = weakref.ref(o)
        f = lambda x: x * (1.0 + k if o else 0.0)  # noqa: F821
        s = f(s) + f(s)
        del f, o
        s = s * (2.0 if r() is None else 100.0)
    return s


@program
def defaults_dropped(s):
    for k in iter(range(4)):
        o = Held()
        r = weakref.ref(o)

        def f(x, o=o):
            return x * 2.0 if o else x

        g = functools.partial(f)
        s = g(s) + f(s)
        del f, g, o
        s = s * (2.0 if r() is None else 100.0)
    return s


@program
def bound_and_dropped(s):
    class Stepper:
        def step(self, x):
            return x * 2.0

        def __call__(self, x):
            return x * 3.0

    for _ in iter(range(4)):
        o = Stepper()
        r = weakref.ref(o)
        m = o.step
        s = m(s) + o(s) + o.step(s)
        del m, o
        s = s * (0.1 if r() is None else 100.0)
    return s


@program
def native_callees_dropped(s):
    for _ in iter(range(4)):
        o = {"a": 1.0}.get
        p = Held()
        r = weakref.ref(p)
        s = s * o("a") * (r() is p)
        del p
        s = s * (2.0 if r() is None else 100.0)
    return s


@program
def made_and_dropped(s):
    class Made:
        def __init__(self, x):
            self.x = x
            self.x = self.x * 2.0

        def __add__(self, other):
            return Made(self.x + other.x)

    for _ in iter(range(4)):
        o = Made(s)
        r = weakref.ref(o)
        s = (o + o).x
        del o
        s = s * (0.1 if r() is None else 100.0)
    return s
