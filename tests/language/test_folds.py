"""`map`, `filter`, `reduce` and the iterators of `itertools`, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: C417, E741, F841, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import functools
import itertools
import operator

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def map_two(x):
    return sum(map(lambda a, b: a * b, x, x[::-1]))


@programs(X)
def map_op(x):
    return sum(map(operator.mul, x, x))


@programs(X)
def map_strict_lazy(x):
    it = map(lambda v: v * v, x)
    y = x[0]
    return next(it) * y + sum(it)


@programs(X)
def filt(x):
    return sum(filter(lambda v: v > 0, x))


@programs(X)
def filt_none(x):
    return sum(filter(None, [x[0], 0.0, x[1]]))


@programs(X)
def red(x):
    return functools.reduce(lambda a, b: a * b + a, x, x[0])


@programs(X)
def red_op(x):
    return functools.reduce(operator.mul, x)


@programs(X)
def red_arr(x):
    return functools.reduce(np.multiply, [x, x, x + 1]).sum()


@programs(X)
def red_write(x):
    buf = np.zeros(2)

    def step(acc, v):
        buf[0] = acc * v
        buf[1] = buf[1] + buf[0]
        return buf[0] + v

    return functools.reduce(step, x, 1.0) + buf[1]


@programs(X)
def acc(x):
    return sum(itertools.accumulate(x, lambda a, b: a * b + 1, initial=x[0]))


@programs(X)
def acc_op(x):
    return list(itertools.accumulate(x, operator.mul))[-1]


@programs(X)
def acc_max(x):
    return sum(itertools.accumulate(x, max))


@programs(X)
def use_star(x):
    return sum(map(lambda a, b: a**2 * b, x, x[::-1]))


@programs(X)
def star_pow(x):
    return sum(itertools.starmap(pow, [(x[0], 2), (x[2], 3)]))


@programs(X)
def grp(x):
    return sum(
        (
            k * sum(g)
            for k, g in (
                (2 if k else 3, list(g)) for k, g in itertools.groupby(x, key=lambda v: v > 0)
            )
        )
    )


@programs(X)
def twh(x):
    return (
        sum(itertools.takewhile(lambda v: v > -1, x))
        + sum(itertools.dropwhile(lambda v: v > -1, x)) ** 2
    )


@programs(X)
def ff(x):
    return sum(itertools.filterfalse(lambda v: v > 0, x)) ** 2


@programs(X)
def itc(x):
    k = [0]

    def nxt():
        k[0] += 1
        return x[k[0] - 1] if k[0] <= 3 else None

    return sum(v * v for v in iter(nxt, None))


@programs(X)
def itc2(x):
    l = list(x)
    return sum(v * v for v in iter(l.pop, x[0]))


@programs(X)
def allany(x):
    return (
        x[0] * all(v * v >= 0 for v in x)
        + x[1] * any(v > 10 for v in x)
        + x[2] * any(map(lambda v: v < 0, x))
    )


@programs(X)
def any_writes(x):
    out = np.zeros(3)

    def t(i):
        out[i] = x[i] ** 2
        return x[i] < 0

    a = any(t(i) for i in range(3))
    return out.sum()


@programs(X)
def all_writes_map(x):
    out = np.zeros(3)

    def t(i):
        out[i] = x[i] ** 2
        return True

    a = all(map(t, range(3)))
    return out.sum()


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
