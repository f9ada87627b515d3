"""What a function under `np.vectorize` may do: write, raise, remember, call itself."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


def cubed(v):
    return v**3 + 2 * v


@programs(X)
def vec_count(x):
    calls = []

    def g(v):
        calls.append(v)
        return v * v

    np.vectorize(g)(x)
    return len(calls) * sum(calls)


@programs(X)
def vec_write(x):
    out = np.zeros(3)

    def g(i):
        out[i] = x[i] ** 2
        return out[i]

    r = np.vectorize(g)(np.arange(3))
    return r.sum() + out[1]


@programs(X)
def vec_cache(x):
    return np.vectorize(cubed, cache=True)(x).sum()


@programs(X)
def vec_closure_active(x):
    s = x[1] * 2
    return np.vectorize(lambda v: v * s)(np.arange(3)).sum()


@programs(X)
def vec_exc(x):

    def g(v):
        if v < 0:
            raise ValueError("neg")
        return v

    try:
        return np.vectorize(g)(x).sum()
    except ValueError:
        return x.sum() * 3


@programs(X)
def vec_method(x):

    class K:
        def __init__(self):
            self.a = x[0]

        @np.vectorize
        def m(self_):
            return self_

        def go(self, v):
            return v * self.a

    k = K()
    return np.vectorize(k.go)(x).sum()


@programs(X)
def vec_writes_input(x):
    y = x * 2

    def g(a):
        y[:] = y * y
        return a * 3

    r = np.vectorize(g, otypes=[float])(y)
    return float(r.sum() + y.sum())


@programs(X)
def vec_writes_input2(x):
    y = x * 2

    def g(a):
        y[:] = y * 0.5
        return a * 3

    r = np.vectorize(g)(y)
    return float(r.sum() + y.sum())


@programs(X)
def vec_type(x):
    ty = []

    def g(a):
        ty.append(type(a).__name__)
        return a

    np.vectorize(g)(x)
    return x[0] * ("float" in ty) + x[1] * ("float64" in ty)


@programs(X)
def vec_raise_through(x):

    def g(v):
        if v < -1:
            raise KeyError("neg")
        return v

    r = 0.0
    try:
        np.vectorize(g)(x)
    except KeyError as e:
        r = x[0] * len(e.args[0])
    return r


@programs(X)
def vec_nested(x):
    inner = np.vectorize(lambda v: v * v)
    return np.vectorize(lambda v: inner(np.array([v, 2 * v])).sum())(x).sum()


@programs(X)
def vec_attrs(x):
    f = np.vectorize(cubed)
    g = f.pyfunc
    return g(x[0]) * len(f.__name__)


@programs(X)
def vec_recursive(x):

    def fact(v):
        return 1.0 if v < 1 else v * fact(v - 1)

    return np.vectorize(fact)(x + 2).sum()


W = np.zeros(3)


@programs(X)
def vec_partial(x):
    W[:] = x
    return np.vectorize(functools.partial(lambda k, i: W[i] * k, 2.0))([0, 1, 2]).sum()


@programs(X)
def vec_builtin(x):
    W[:] = x
    return np.vectorize(W.__getitem__)([0, 1, 2]).sum() + np.vectorize(W.item)([0, 1]).sum()


@programs(X)
def vec_class(x):

    class C:
        def __init__(self):
            self.n = 0.0

        def __call__(self, v):
            self.n += v
            return self.n * v

    c = C()
    return np.vectorize(c, otypes=[float])(x).sum() + c.n


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
