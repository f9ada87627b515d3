"""Callers of `operator`, and what `functools` makes of functions and methods."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest

from tests.support.gradients import Program, Programs
from tests.support.subjects import Box, Memoized

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def mcall(x):
    return operator.methodcaller("sum")(x * x)


@programs(X)
def mcall_kw(x):
    return operator.methodcaller("sum", axis=0)(np.outer(x, x)).prod()


@programs(X)
def mcall_map(x):
    return sum(map(operator.methodcaller("prod"), [x, x * x]))


@programs(X)
def mcall_obj(x):
    return operator.methodcaller("area", k=x[2])(Box(x[0], x[1]))


@programs(X)
def aget(x):
    return operator.attrgetter("a", "d")(Box(x[0], x[1]))[1] * operator.attrgetter("b")(
        Box(x[0], x[1])
    )


@programs(X)
def aget_arr(x):
    return operator.attrgetter("T")(x[:, None]).sum() + operator.attrgetter("real")(x).sum()


@programs(X)
def aget_scalar(x):
    return operator.attrgetter("real")(x[0]) * operator.attrgetter("imag")(
        x[0]
    ) + operator.attrgetter("real")(x[1])


@programs(X)
def iget(x):
    return operator.itemgetter(1)(x) * operator.itemgetter(0, 2)(x)[1]


@programs(X)
def iget_slice(x):
    return operator.itemgetter(slice(1, None))(x).prod()


@programs(X)
def iget_sort(x):
    return sorted([(i, v * v) for i, v in enumerate(x)], key=operator.itemgetter(1))[0][1]


@programs(X)
def aget_sort(x):
    return sorted([Box(v, i) for i, v in enumerate(x)], key=operator.attrgetter("a"))[0].area(2.0)


@programs(X)
def part(x):
    return functools.partial(lambda a, b, c=1.0: a * b * c, x[0], c=x[1])(x[2])


@programs(X)
def part_nested(x):
    p = functools.partial(functools.partial(lambda a, b, c: a * b + c, x[0]), x[1])
    return p(x[2]) + sum(p.args)


@programs(X)
def pmeth(x):
    p = Memoized(x[0])
    return p.twice(x[1]) + p.thrice(x[2])


@programs(X)
def cprop(x):
    p = Memoized(x[0])
    a = p.sq
    p.s = x[1]
    return a * p.sq + p.s


@functools.singledispatch
def sdisp(v):
    return v * 1.0


@sdisp.register(list)
def _(v):
    return sum(v) * 2


@sdisp.register
def __again(v: float):
    return v * v


@sdisp.register(np.ndarray)
def __again_again(v):
    return (v**3).sum()


@programs(X, 0.4)
def sdis(x, s):
    return sdisp(x) * sdisp(list(x)) + sdisp(s) + sdisp(2) * x[0]


@programs(X)
def sdis_np(x):
    return sdisp(x[0])


@programs(X)
def sdismeth(x):
    p = Memoized(x[0])
    return p.disp(x[1]) + p.disp(2) + p.disp("abc") + p.disp([x[0], x[1]])


@functools.total_ordering
class TO:
    def __init__(self, v):
        self.v = v

    def __eq__(self, o):
        return self.v == o.v

    def __lt__(self, o):
        return self.v < o.v


@programs(X)
def tot(x):
    a, b, c = (TO(v * v) for v in x)
    return (
        (a.v if a >= b else b.v) * (c.v if c <= a else a.v)
        + max(a, b, c).v
        + sorted([a, b, c])[0].v
    )


@programs(X)
def wrp(x):

    def deco(f):

        @functools.wraps(f)
        def inner(*a, **k):
            return f(*a, **k) * x[0]

        return inner

    @deco
    def g(v, k=1):
        return v * v * k

    return g(x[1], k=x[2]) + len(g.__name__)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
