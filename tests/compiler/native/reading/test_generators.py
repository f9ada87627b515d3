"""Generators: what they and their consumers do happens in Python's order, in loops that stay loops.

Each is right in all modes; see `every_way`.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading.reader import read_function
from tests.compiler.native.reading.every_way import POINT, require_whole

pytestmark = pytest.mark.plain


def sums(x, a):
    t = 0.0
    for k in range(len(x)):
        t = t + a * x[k]
        yield t


def states(x, a, n):
    v = x * 1.0
    for _ in range(n):
        v = v * a + x
        yield v


def in_pieces(x, a):
    yield x[0]
    for k in range(2):
        yield a * x[k]
    if a > 0.5:
        yield x[1] ** 2
        return
    yield x[2]


def walk(x, n):
    if n:
        yield from walk(x, n - 1)
        yield x[n]
        yield from walk(x, n - 1)


def left_early(x, a):
    s = 0.0
    for v in sums(x, a):
        s += v * v
        if v > 0.1:
            break
    for v in in_pieces(x, a):
        if v < 0:
            continue
        s = s * a + v * v
    return s


def left_by_a_return(x, a):
    def first(values):
        for v in values:
            if v > 0.2:
                return v * a
        return a

    return first(sums(x, a)) + first(t * t for t in x) + first(v for v in (a, 2.0))


def left_in_two_ways(x, a):
    def run(y):
        for v in (t * a for t in y):
            if v > 0.5:
                break
            if v < -1.0:
                return v
        else:
            return a * a
        return v * v

    return run(x) + run(x[:2]) * 2.0 + run(x - 2.0) * 3.0


def written_by_both(x, a):
    def scaled(n):
        for i in range(n):
            x[i] *= a
            yield x[i]
            x[i] += 1.0

    s = 0.0
    for k, v in enumerate(scaled(3), 1):
        x[k] += v + x[k - 1]
        s += v * k
    return s + x.sum()


def of_arrays(x, a):
    s = 0.0
    for w in states(x, a, 4):
        s += (w * w).sum()
    return s


def recursive(x, a):
    s = 0.0
    for v in walk(x, 3):
        s = s * a + v
    return s


def through_another(x, a):
    def paired(values):
        before = 0.0
        for v in values:
            yield before, v
            before = v

    s = 0.0
    for p, q in paired(sums(x, a)):
        if q > 2.0:
            return s
        s += p * q
    return s


def consumed_once(x, a):
    values = (x[i] * a for i in range(3))
    a = a * 2.0
    s = 0.0
    for v in values:
        s += v * v
    for v in values:
        s += 10.0 * v
    return s * a


class Chain:
    def __init__(self, values):
        self.values = list(values)

    def __iter__(self):
        for k, v in enumerate(self.values):
            yield k * v


def of_methods(x, a):
    chain = Chain(a * t for t in (x[0], x[1], x[2] ** 2))
    first, second, last = (v * v for v in chain)
    return first + second * last * a + sum(v for v in chain) + max(*chain)


def all_of_them(x, a):
    squares = [v * v for v in states(x, a, 3)]
    return np.sum(squares) + any(v > 0.3 for v in sums(x, a)) * a


def squares(a):
    k, t = 0, 1.0
    while True:
        yield t
        k += 1
        t = t * a + k


def step_by_step(x, a):
    values = squares(a)
    first = next(values)
    x[0] += next(values) * first
    s = 0.0
    for k, v in enumerate(values):
        s += v * x[k]
        if k == 2:
            break
    rest = iter([x[3], a])
    s += next(rest) * next(values) + sum(rest) + next(rest, 2.0)
    return s * a


def zipped(x, a):
    def halves(values):
        for v in values:
            if v is None:
                return
            x[0] *= a
            yield v / 2

    s = 0.0
    for v, w, (k, t) in zip(halves((x[1], a, x[3], None, a)), x, enumerate(squares(a))):  # noqa: B905
        s = s * x[0] + v * w + t * k
    return s + sum(p * q for p, q in zip(squares(a), (a, x[1])))  # noqa: B905


def first_of_many(x, a):
    s = next(v for v in x if v > 0.0) + next((v for v in x if v > 9.0), a)
    return s + next(t for t in sums(x, a) if t > 0.2) * a + next(iter((a, s)))


def reduced(x, a):
    turns = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in (x[0], x[1], a)]
    corner = np.array([x[2], a])
    corner += (a * x[3], 1.0)
    m = functools.reduce(np.matmul, turns)
    return functools.reduce(lambda s, t: s * a + t, (m @ corner)[:2] * (2, a), x[1] ** 2)


FUNCTIONS = [
    step_by_step, zipped, first_of_many, reduced, left_early, left_by_a_return, left_in_two_ways,
    written_by_both, of_arrays, recursive, through_another, consumed_once, of_methods, all_of_them,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_compiled_whole_and_right(f, tried) -> None:
    require_whole(f, tried)


def twice_in_a_loop(x, a):
    values = sums(x, a)
    s = 0.0
    for _ in range(len(x)):
        for v in values:
            s += v
    return s


def gone_on_with(x, a):
    values = sums(x, a)
    for v in values:
        if v > a:
            break
    return sum(list(values))


def under_a_test(x, a):
    values = iter((a, x[0]))
    if a > x[0]:
        next(values)
    return next(values)


def sent(x, a):
    def total():
        s = 0.0
        while True:
            s += yield s

    t = total()
    return sum(list(t))


def changed_meanwhile(x, a):
    rows = [(a, 1.0), (a, a)]
    values = (v for _, (v, _) in zip(range(2), rows, strict=True))
    rows[0] = x[0], a
    return sum(values)


def closed(x, a):
    def within():
        try:
            yield x[0]
        finally:
            x[1] = a

    for v in within():
        return v * x[1]
    return a


REFUSED = [
    (twice_in_a_loop, "another type in a loop"), (gone_on_with, "consumed twice"),
    (under_a_test, "consumed twice"), (sent, "yield"), (changed_meanwhile, "changes before"),
    (closed, "finally"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "why"), REFUSED, ids=lambda p: getattr(p, "__name__", ""))
def test_refused_with_a_reason(f, why) -> None:
    with pytest.raises(Unfit, match=why):
        read_function(f, [type_of(v) for v in POINT])
