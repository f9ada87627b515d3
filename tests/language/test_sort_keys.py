"""Orders by keys: `sorted`, `max`, `heapq`, `bisect`, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: E741, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import bisect
import functools
import heapq
import operator
import statistics

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
L = [0.3, -1.2, 0.7]


@programs(X)
def sort_key(x):
    s = sorted(x, key=lambda v: -v)
    return s[0] * 2 + s[1] * 3 * s[2]


@programs(X)
def sort_key_rev(x):
    s = sorted(enumerate(x), key=lambda t: t[1] ** 2, reverse=True)
    return sum((i * v * k for k, (i, v) in enumerate(s)))


@programs(L)
def lsort(l):
    l.sort(key=abs)
    return l[0] * l[1] + 3 * l[2]


@programs(L)
def lsort_cmp(l):
    l.sort(key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))
    return l[0] * 2 + l[1] * l[2]


@programs(X)
def sorted_cmp(x):
    s = sorted(x, key=functools.cmp_to_key(lambda a, b: -1 if a > b else 1))
    return s[0] * 2 + s[1] * s[2]


@programs(X)
def sort_tuples(x):
    s = sorted(((v * v, i) for i, v in enumerate(x)))
    return sum((a * i * k for k, (a, i) in enumerate(s, 1)))


@programs(X)
def minmax_key(x):
    return min(x, key=lambda v: v * v) * max(x, key=abs) + max([], default=x[0])


@programs(X)
def sort_arr(x):
    s = sorted([x, 2 * x, -x], key=lambda a: a.sum())
    return (s[0] * s[1]).sum()


@programs(X)
def sort_key_writes(x):
    log = np.zeros(3)
    k = [0]

    def key(v):
        log[k[0]] = v * v
        k[0] += 1
        return v

    s = sorted(x, key=key)
    return (log * np.arange(3)).sum() * s[0]


@programs(L)
def lsort_writes(l):
    acc = []
    l.sort(key=lambda v: acc.append(v * v) or v)
    return acc[0] * l[0] + acc[2]


@programs(X)
def max_writes(x):
    seen = []
    m = max(x, key=lambda v: (seen.append(v * 2), v)[1])
    return m * seen[0]


@programs(X)
def hmerge(x):
    s = list(heapq.merge(sorted(x), sorted(x * 2)))
    return sum((v * i for i, v in enumerate(s)))


@programs(X)
def hmerge_key(x):
    s = list(
        heapq.merge(
            sorted(x, reverse=True), sorted(x * 2, reverse=True), key=lambda v: v, reverse=True
        )
    )
    return sum((v * v * i for i, v in enumerate(s)))


@programs(X)
def nlarg(x):
    return heapq.nlargest(2, x)[1] * heapq.nsmallest(2, x)[0]


@programs(X)
def nlarg_key(x):
    return heapq.nlargest(2, x, key=lambda v: v * v)[1] * heapq.nsmallest(2, x, key=abs)[1]


@programs(X)
def nlarg_one_key(x):
    return heapq.nlargest(1, x, key=abs)[0] * heapq.nsmallest(1, x, key=lambda v: -v)[0]


@programs(X)
def hpush_t(x):
    h = []
    for i, v in enumerate(x):
        heapq.heappush(h, (v * v, i, v))
    out = 0.0
    while h:
        p, i, v = heapq.heappop(h)
        out = out * 0.5 + p * v
    return out


@programs(X)
def hreplace(x):
    h = list(x)
    heapq.heapify(h)
    a = heapq.heapreplace(h, x[0] * x[1])
    b = heapq.heappushpop(h, x[2] * 5)
    return a * 2 + b * 3 + h[0] * h[-1]


class Item:
    def __init__(self, p):
        self.p = p

    def __lt__(self, o):
        return self.p < o.p


@programs(X)
def hpush_obj(x):
    h = []
    for v in x:
        heapq.heappush(h, Item(v * v))
    return heapq.heappop(h).p * 2 + heapq.heappop(h).p ** 2


@programs(X)
def ins_key(x):
    l = sorted(x)
    bisect.insort(l, x[0] * 1.1, key=lambda v: v)
    return l[0] + 2 * l[1] + 3 * l[2] * l[3]


@programs(X)
def bis_arr(x):
    xs = np.sort(x)
    i = bisect.bisect(xs, 0.5)
    return xs[i - 1] ** 2


@programs(X)
def cmpk(x):
    s = sorted(x, key=functools.cmp_to_key(lambda a, b: a * a - b * b))
    return s[0] * s[1]


@programs(X)
def cmp_writes(x):
    log = np.zeros(8)
    k = [0]

    def c(a, b):
        log[k[0]] = a * b
        k[0] += 1
        return float(a > b) - float(a < b)

    s = sorted(x, key=functools.cmp_to_key(c))
    return log.sum() + s[0] * k[0]


@programs(X)
def cmp_max(x):
    return max(x, key=functools.cmp_to_key(lambda a, b: a - b)) * min(
        list(x), key=functools.cmp_to_key(lambda a, b: abs(a) - abs(b))
    )


@programs(X)
def cmp_raise(x):

    def c(a, b):
        raise KeyError("z")

    try:
        sorted(x, key=functools.cmp_to_key(c))
    except KeyError:
        return x.sum()


@programs(X)
def bkeys(x):
    l = sorted(enumerate(x), key=lambda t: t[1])
    i = bisect.bisect(l, 0.5, key=lambda t: t[1] * 1.0)
    j = bisect.bisect_left(l, 0.5, 0, 2, key=operator.itemgetter(1))
    bisect.insort_left(l, (9, x[0] * x[1]), key=operator.itemgetter(1))
    return sum((k * v for k, (i, v) in enumerate(l))) + i * x[0] + j * x[1]


@programs(X)
def hm(x):
    return statistics.harmonic_mean(x * x, weights=[1.0, x[2], 2.0]) + statistics.harmonic_mean(
        [x[0], 2]
    )


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
