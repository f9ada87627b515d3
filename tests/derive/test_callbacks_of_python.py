"""Python's functions that call back, against finite differences: orders, folds, iterators."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B019, C417, E741, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import bisect
import decimal
import fractions
import functools
import heapq
import itertools
import math
import operator
import statistics

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
M = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])
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
def mcall(x):
    return operator.methodcaller("sum")(x * x)


@programs(X)
def mcall_kw(x):
    return operator.methodcaller("sum", axis=0)(np.outer(x, x)).prod()


@programs(X)
def mcall_map(x):
    return sum(map(operator.methodcaller("prod"), [x, x * x]))


class Pt:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def area(self, k=1.0):
        return self.a * self.b * k

    @property
    def d(self):
        return self.a * 2


@programs(X)
def mcall_obj(x):
    return operator.methodcaller("area", k=x[2])(Pt(x[0], x[1]))


@programs(X)
def aget(x):
    return operator.attrgetter("a", "d")(Pt(x[0], x[1]))[1] * operator.attrgetter("b")(
        Pt(x[0], x[1])
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
    return sorted([Pt(v, i) for i, v in enumerate(x)], key=operator.attrgetter("a"))[0].area(2.0)


@programs(X)
def part(x):
    return functools.partial(lambda a, b, c=1.0: a * b * c, x[0], c=x[1])(x[2])


@programs(X)
def part_nested(x):
    p = functools.partial(functools.partial(lambda a, b, c: a * b + c, x[0]), x[1])
    return p(x[2]) + sum(p.args)


class PM:
    def __init__(self, s):
        self.s = s

    def scale(self, v, k):
        return self.s * v * k

    twice = functools.partialmethod(scale, k=2.0)
    thrice = functools.partialmethod(scale, 3.0)

    @functools.cached_property
    def sq(self):
        return self.s * self.s

    @functools.cache
    def cached(self, k):
        return self.s * k

    @functools.singledispatchmethod
    def disp(self, v):
        return v * self.s

    @disp.register
    def _(self, v: int):
        return v * self.s * 10

    @disp.register(str)
    def _(self, v):
        return len(v) * self.s

    @disp.register
    def _(self, v: list):
        return sum(v) * self.s


@programs(X)
def pmeth(x):
    p = PM(x[0])
    return p.twice(x[1]) + p.thrice(x[2])


@programs(X)
def cprop(x):
    p = PM(x[0])
    a = p.sq
    p.s = x[1]
    return a * p.sq + p.s


@programs(X)
def lruc(x):

    @functools.cache
    def f(k):
        return x[k] ** 2

    return f(0) * f(1) * f(0)


@programs(X)
def lru_active(x):

    @functools.cache
    def f(v):
        return v * v

    return f(x[0]) * f(x[0]) + f(x[1])


@programs(X)
def lru_method(x):
    p = PM(x[0])
    return p.cached(2) * p.cached(2) + p.cached(3)


@functools.lru_cache
def coef(k):
    return k * 0.5


@programs(X)
def lru_const(x):
    return sum((coef(i) * v for i, v in enumerate(x)))


@programs(X)
def lru_fib(x):

    @functools.cache
    def fib(n):
        return x[n] if n < 2 else fib(n - 1) * 0.5 + fib(n - 2)

    return fib(8)


@programs(X)
def lru_ident(x):

    @functools.cache
    def f(k):
        return [x[k]]

    f(0).append(x[1])
    return sum(f(0))


@programs(X)
def lru_info(x):

    @functools.cache
    def f(k):
        return x[k]

    f(0)
    f(0)
    return f(1) * f.cache_info().hits


@programs(X)
def lru_count(x):
    n = [0]

    @functools.cache
    def f(k):
        n[0] += 1
        return x[k]

    f(0)
    f(0)
    f(1)
    return n[0] * x[0]


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
    p = PM(x[0])
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


@programs(X)
def smean(x):
    return statistics.mean(x)


@programs(X)
def smean_l(x):
    return statistics.mean([v * v for v in x])


@programs(X)
def sfmean(x):
    return statistics.fmean(x * x)


@programs(X)
def sfmean_w(x):
    return statistics.fmean(x * x, weights=[1, 2, 3])


@programs(X)
def sfmean_wa(x):
    return statistics.fmean([1.0, 2.0, 3.0], weights=x * x)


@programs(X)
def svar(x):
    return statistics.variance(list(x))


@programs(X)
def spvar(x):
    return statistics.pvariance(list(x))


@programs(X)
def sstd(x):
    return statistics.stdev(x)


@programs(X)
def spstd(x):
    return statistics.pstdev(list(x))


@programs(X)
def smed(x):
    return statistics.median(x) * 2


@programs(X)
def smed_even(x):
    return statistics.median([x[0], x[1], x[2], x[0] * 2])


@programs(X)
def smedlow(x):
    return statistics.median_low(x) * statistics.median_high(x)


@programs(X)
def shar(x):
    return statistics.harmonic_mean(x * x)


@programs(X)
def scorr(x):
    return statistics.correlation(x, [1.0, 2.0, 4.0])


@programs(X)
def scov(x):
    return statistics.covariance(list(x), [1.0, 2.0, 4.0])


@programs(X)
def slin(x):
    r = statistics.linear_regression([1.0, 2.0, 4.0], list(x))
    return r.slope * r.intercept


@programs(X)
def squant(x):
    return statistics.quantiles(list(x), n=3)[0]


@programs(X)
def snd(x):
    return statistics.NormalDist(x[0], 1.0 + x[2]).pdf(0.3)


@programs(X)
def snd_cdf(x):
    return statistics.NormalDist(x[0], 1.0 + x[2]).cdf(0.3)


@programs(X)
def mprod(x):
    return math.prod(v * v for v in x) + math.prod(x, start=x[0])


@programs(X)
def mfsum(x):
    return math.fsum(v * v for v in x)


@programs(X)
def mdist(x):
    return math.dist(x, x * x) + math.hypot(x[0], x[1], x[2]) + math.dist((x[0],), (x[1],))


@programs(X)
def frac2(x):
    return float(fractions.Fraction(1, 3) * x[0])


@programs(X)
def frac3(x):
    return x[0] * fractions.Fraction(1, 3) + fractions.Fraction(2, 3) / x[1]


@programs(X)
def deci_const(x):
    return float(decimal.Decimal("1.5") + 1) * x[0]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
