"""Classes and decorators of the standard library round code that writes into arrays."""
# The unusual style of the programs is the point of them.
# ruff: noqa: E741, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import collections
import contextlib
import functools
import io
import itertools
import operator
import random
import statistics

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def chainmap(x):
    c = collections.ChainMap({}, {"a": x * 2})
    c["b"] = x * x
    del c["b"]
    c.maps[0]["z"] = x
    return (
        (c["a"] * c.get("q", x) * c["z"]).sum()
        + len(c) * ("a" in c) * x[0]
        + c.pop("z").sum()
        + sum(v.sum() for v in c.values())
    )


@programs(X)
def userdict(x):
    u = collections.UserDict({"a": x})
    u |= {"b": x * x}
    w = u | {"c": x}
    _, v = w.popitem()
    u.setdefault("q", x**3)
    return (v * u["a"] * u["q"]).sum() + sum(t.sum() for t in w.values()) + len(u.copy()) * x[0]


@programs(X)
def exitstack(x):
    y = np.zeros(3)
    with contextlib.ExitStack() as st:
        for i in range(3):
            st.callback(y.__setitem__, i, x[i] * (i + 1))
        st.enter_context(contextlib.nullcontext(1))
    return (y * y).sum()


@programs(X)
def exit_exc(x):
    y = np.zeros(3)

    def cb(t, v, tb):
        y[:] = x * v.args[0]
        return t is ValueError

    with contextlib.ExitStack() as st:
        st.push(cb)
        raise ValueError(x[0])
    return y.sum()


@programs(X)
def redirect(x):
    s = io.StringIO()
    with contextlib.redirect_stdout(s), contextlib.redirect_stderr(s):
        print(x[0], x)
        print("a", end="")
    return x[0] * s.getvalue().endswith("a")


class CM(contextlib.AbstractContextManager):
    def __init__(self, a):
        self.a = a

    def __exit__(self, *a):
        self.a *= 2
        return


@programs(X)
def abscm(x):
    a = x.copy()
    with CM(a) as c:
        y = c.a.sum()
    return y * a.sum()


@programs(X)
def cached_prop_class(x):

    class K:
        def __init__(self, a):
            self.a = a
            self.n = 0

        @functools.cached_property
        def v(self):
            self.n += 1
            return self.a * 2

    k = K(x)
    r = (k.v * k.v).sum()
    del k.v
    return r + k.v.sum() + k.n * x[0]


@programs(X)
def singled_ndarray(x):

    @functools.singledispatch
    def g(v):
        return 1.0

    @g.register
    def _(v: np.ndarray):
        return (v * v).sum()

    @g.register(np.floating)
    def _(v):
        return v * 5

    @g.register(float)
    def _(v):
        return v * 7

    return g(x) * g(x[0]) * g(float(x[1])) + g.dispatch(int)(1)


@programs(X)
def totord(x):

    @functools.total_ordering
    class T:
        def __init__(self, v):
            self.v = v

        def __lt__(self, o):
            return self.v.sum() < o.v.sum()

        def __eq__(self, o):
            return self.v.sum() == o.v.sum()

    a, b = (T(x), T(x * 2))
    return (max(a, b).v * x).sum() + sorted([a, b])[0].v.sum() * (a >= b) + (a <= b) * x[0]


@programs(X)
def partialmethod(x):

    class T:
        def __init__(self, v):
            self.v = v

        def f(self, a, b=1.0):
            return (self.v * a * b).sum()

        g = functools.partialmethod(f, 2.0, b=3.0)
        h = functools.partialmethod(functools.partial(f, b=5.0))

    return T(x).g() + T(x * x).h(2.0)


@programs(X)
def wraps_sig(x):

    def d(f):

        @functools.wraps(f)
        def g(*a, **k):
            return f(*a, **k) * 2

        return g

    @d
    def h(a):
        """doc"""
        return (a * a).sum()

    return h(x) + len(h.__doc__) + h.__wrapped__(x)


@programs(X)
def iter_tools(x):
    it = iter(x * x)
    return next(it) * next(it, None) + sum(it) + next(it, 3.0)


@programs(X)
def count_zip(x):
    return sum((a * b for a, b in zip(itertools.count(1), itertools.repeat(x[0], 3)))) + sum(
        map(operator.mul, x, itertools.count(2))
    )


@programs(X)
def random_mod(x):
    random.seed(1)
    l = [x, x * x, x**3]
    random.shuffle(l)
    return (
        (l[0] * random.choice(l)).sum()
        + sum(v.sum() for v in random.sample(l, 2))
        + random.choices(l, k=1)[0].sum()
        + random.random() * x[0]
        + random.triangular(0, 1, 0.5) * x[1]
    )


@programs(X)
def random_py(x):
    r = random.Random(2)
    return (
        r.uniform(x[0], x[2])
        + r.normalvariate(x[0], x[2])
        + r.betavariate(2.0, 3.0) * x[0]
        + r.lognormvariate(x[1], 0.5)
    )


@programs(X)
def multimode(x):
    return len(statistics.multimode([1, 1, 2, 2])) * x[0]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
