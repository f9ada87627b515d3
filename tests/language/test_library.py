"""Programs that use the standard library, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B006, B905, E741, RET504, RUF058, UP032

from __future__ import annotations

import bisect
import cmath
import contextlib
import copy
import dataclasses
import functools
import heapq
import io
import itertools
import math
import operator
import random
import statistics
import types

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
L = [1.0, 2.0]
D = {"a": 1.0}


class K:
    v = 1.0


@programs(X)
def statistics_fmean(a):
    return statistics.fmean(a)


@programs(X)
def fsum(a):
    return math.fsum(a)


@programs(X)
def mprod(a):
    return math.prod(a)


@programs(X)
def mhypot(a):
    return math.hypot(*a)


@programs(X)
def mdist(a):
    return math.dist(a, [1.0, 2.0, 3.0])


@programs(X)
def heap(a):
    h = []
    for v in a:
        heapq.heappush(h, v)
    return heapq.heappop(h) * heapq.heappop(h)


@programs(X)
def heap2(a):
    h = list(a)
    heapq.heapify(h)
    return h[0] * heapq.nlargest(1, h)[0]


@programs(X)
def bisect_insort(a):
    l = sorted(a.tolist())
    bisect.insort(l, a[0] * 2)
    return l[0] * l[-1]


@programs(2.0)
def seeded_random(x):
    return x * random.Random(1).random()


@programs(2.0)
def random_uniform(x):
    return random.Random(1).uniform(0, x)


@programs([1.0, 2.0, 3.0])
def random_choice(l):
    return random.Random(1).choice(l) * 2


@programs([1.0, 2.0, 3.0])
def random_shuffle_argument(l):
    random.Random(1).shuffle(l)
    return l[0] * 3 + l[1]


@programs(X)
def numpy_generator(a):
    r = np.random.default_rng(1)
    return np.sum(a * r.normal(size=3))


@programs(2.0)
def deepcopy_of_nested(x):
    d = copy.deepcopy({"a": [x, (x,)]})
    return d["a"][0] * d["a"][1][0]


@programs(X)
def element_in_array(a):
    return a[0] * (2 if a[0] in a else 3)


@programs(X)
def zipstar(a):
    u, v = zip(*[(x, x * x) for x in a])
    return sum(v) * u[0]


@programs(X)
def map_calls(a):
    return sum(map(math.exp, a)) + sum(map(operator.mul, a, a)) + sum(map(float, a))


@programs(X)
def filter_none(a):
    return sum(filter(None, a))


@programs(X)
def sorted_by_key(a):
    return sorted(a, key=abs)[0] * sorted(a.tolist(), reverse=True)[0]


@programs(X)
def min_by_key(a):
    return min(a, key=abs) * max(a.tolist()) * min(*a)


@programs(X)
def divmods(a):
    return sum(divmod(a[2], 0.4)) + np.sum(np.divmod(a, 0.5)[1])


@programs(X)
def reduce_(a):
    return functools.reduce(operator.mul, a)


@programs(X)
def reduce_l(a):
    return functools.reduce(lambda u, v: u * v + u, a.tolist(), 1.0)


@programs(X)
def itemget(a):
    return operator.itemgetter(0, 2)(a)[1] * operator.itemgetter(1)(a)


@programs({"a": 1.0, "b": 2.0})
def itemgetd(d):
    return math.prod(operator.itemgetter("a", "b")(d))


@programs(2.0)
def attrget(x):
    n = types.SimpleNamespace(a=x)
    return operator.attrgetter("a")(n)


@programs(X)
def methcall(a):
    return operator.methodcaller("sum")(a)


@programs(X)
def accumulate(a):
    return list(itertools.accumulate(a, operator.mul))[2] + sum(itertools.accumulate(a.tolist()))


@programs(X)
def itertools_chain_starmap_takewhile(a):
    return (
        sum(itertools.chain(a, a[::-1], [a[0]]))
        + sum(itertools.starmap(operator.mul, zip(a, a)))
        + sum(itertools.takewhile(lambda v: v > 0, a))
    )


@programs(X)
def itertools_product_pairwise_combinations(a):
    return (
        sum((u * v for u, v in itertools.product(a, a)))
        + sum((u * v for u, v in itertools.pairwise(a)))
        + sum((u * v for u, v in itertools.combinations(a, 2)))
    )


@programs(X)
def groupby(a):
    return sum((sum(g) * 2 if k else sum(g) for k, g in itertools.groupby(a, key=lambda v: v > 0)))


@programs(X)
def itertools_islice_compress(a):
    return (
        sum(itertools.islice(a, 1, None))
        + sum(itertools.compress(a, [1, 0, 1]))
        + sum(itertools.dropwhile(lambda v: v > 0, a))
        + sum(itertools.filterfalse(lambda v: v > 0, a))
    )


@programs(X)
def tee(a):
    u, v = itertools.tee(w * w for w in a)
    return sum((p_ * q for p_, q in zip(u, v)))


@programs(X)
def dunder(a):
    return float(a.__add__(1.0).sum()) + a[0].__mul__(3.0) + a.__len__()


@programs(2.0)
def dunderf(x):
    return (
        x.__mul__(x)
        + x.__add__(1.0)
        + (3.0).__mul__(x)
        + float.__mul__(x, x)
        + x.__float__()
        + x.real * x.conjugate()
    )


@programs(2.0)
def dunderf2(x):
    return (3.0).__rsub__(x) + operator.iadd(x, x) + operator.pow(x, 2) + operator.neg(x)


@programs(X)
def operator_inplace(a):
    b = a.copy()
    operator.imul(b, a)
    operator.iadd(b, 1.0)
    return np.sum(b)


@programs(2.0)
def complexes(x):
    z = complex(x, x * 2)
    return abs(z) + (z * z.conjugate()).real + cmath.exp(z).imag + (x + 2j).imag


@programs(2.0)
def intround(x):
    return x * round(x, 1)


@programs(2.0)
def formatv(x):
    return x * len("{:.2f}".format(x))


@programs(2.0)
def total_order(x):

    @functools.total_ordering
    class T:
        def __init__(s, v):
            s.v = v

        def __lt__(s, o):
            return s.v < o.v

        def __eq__(s, o):
            return s.v == o.v

    return max(T(x), T(x * x)).v


@programs(2.0)
def partialmeth(x):

    class T:
        def f(s, a, b):
            return a * b * s.v

        g = functools.partialmethod(f, 3.0)

    t = T()
    t.v = x
    return t.g(x)


@programs(2.0)
def cachedp(x):

    class T:
        def __init__(s, v):
            s.v = v

        @functools.cached_property
        def w(s):
            return s.v**2

    t = T(x)
    return t.w * t.w


@programs(2.0)
def lru_in(x):

    @functools.lru_cache
    def f(v):
        return v * x

    return f(2.0) + f(2.0) + f(x)


@programs(2.0)
def sdm(x):

    class T:
        @functools.singledispatchmethod
        def f(s, v):
            return v * 2

        @f.register
        def _(s, v: str):
            return 0.0

    return T().f(x) + T().f("a")


@programs(2.0)
def slotdesc(x):

    class T:
        __slots__ = ("v",)

    t = T()
    T.v.__set__(t, x)
    return T.v.__get__(t) * 2


@programs(2.0)
def object_setattr_and_dict(x):

    class T:
        pass

    t = T()
    object.__setattr__(t, "v", x)
    t.__dict__["w"] = x * x
    t.__dict__.update(z=x)
    vars(t)["q"] = x
    return t.v * t.w * t.z * t.q


@programs(2.0)
def type_with_three_arguments(x):
    T = type("T", (), {"v": x, "f": lambda s: s.v * 2})
    return T().f()


@programs(2.0)
def closing(x):

    class T:
        def close(s):
            s.v = s.v * 3

    t = T()
    t.v = x
    with contextlib.closing(t) as u:
        y = u.v
    return y * t.v


@programs(2.0)
def redirect(x):
    f = io.StringIO()
    with contextlib.redirect_stdout(f):
        print(x)
    return x * x


@programs(2.0)
def max_of_dict_values(x):
    return max({"a": x, "b": x * x}.values()) * max([(x, 1), (x * x, 2)])[0]


@programs(2.0)
def tuplecmp(x):
    return x if (x, 1) < (3.0, 2) else -x


@programs(2.0)
def exception_with_own_init(x):

    class E(Exception):
        def __init__(s, v):
            super().__init__(v)
            s.v = v * 2

    try:
        raise E(x)
    except E as e:
        return e.v * e.args[0]


@programs(2.0)
def indexproto(x):

    class T:
        def __index__(s):
            return 1

    return [x, x * x][T()]


@programs([1.0, 2.0])
def boundl(l):
    ap = l.append
    po = l.pop
    ap(l[0] * 3)
    return po() * sum(l)


@programs(2.0)
def boundf(x):
    f = x.__add__
    return f(3.0)


@programs(2.0)
def datacls_eq(x):

    @dataclasses.dataclass(order=True)
    class T:
        v: float

    return max(T(x), T(x * x)).v + (x if T(x) == T(x) else 0.0)


@programs(2.0)
def cache_global(x):
    K.v = x
    return K.v * K.v


@programs(2.0)
def global_list(x):
    L.append(x)
    y = L[-1] * L[-1]
    return y


@programs(2.0)
def global_dict(x):
    D["b"] = x * x
    return D["b"]


@programs(2.0)
def defarg(x, store=[0.0]):
    store[0] = x
    return store[0] * 2


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    program.check()
