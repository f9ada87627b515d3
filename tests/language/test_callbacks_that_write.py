"""Callbacks that write into arrays, handed to Python's compiled functions."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B905, C401, C417, E741, F841, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import collections
import csv
import functools
import heapq
import io
import itertools
import math
import operator
import pprint
import string
import textwrap

import numpy as np
import pytest

from tests.support.gradients import Program, Programs
from tests.support.subjects import Box

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


W = np.zeros(3)


@programs(X)
def map_sum(x):
    W[:] = 0
    sum(map(lambda i: W.__setitem__(i, x[i] * 2) or 0, range(3)))
    return W.sum()


@programs(X)
def list_filter(x):
    W[:] = 0

    def f(i):
        W[i] = x[i] * 3
        return True

    list(filter(f, range(3)))
    return W.prod()


@programs(X)
def max_const(x):
    W[:] = 0

    def f(i):
        W[i] = x[i] * 3
        return i

    m = max(range(3), key=f)
    return W.prod() * m


@programs(X)
def sort_const(x):
    W[:] = 0

    def f(i):
        W[i] = x[i] * 3
        return -i

    l = [0, 1, 2]
    l.sort(key=f)
    return W.prod() * l[0]


@programs(X)
def heap_const(x):
    W[:] = 0

    def f(i):
        W[i] = x[i] * 3
        return -i

    l = heapq.nlargest(2, [0, 1, 2], key=f)
    return W.prod() * l[0]


@programs(X)
def defaultdict(x):
    W[:] = 0

    def f():
        W[0] = x[0] * 3
        return 1.0

    d = collections.defaultdict(f)
    d[3]
    d[4]
    return W.sum() * d[3]


@programs(X)
def dd_get(x):
    W[:] = 0

    def f():
        W[0] = x[0] * 3
        return 1.0

    d = collections.defaultdict(f)
    d.__getitem__(3)
    operator.getitem(d, 4)
    operator.itemgetter(5)(d)
    return W.sum() * d[3] * len(d)


@programs(X)
def dd_method(x):
    d = collections.defaultdict(lambda: x * 2)
    return d.__missing__("a").sum() if False else d["a"].sum()


@programs(X)
def iter_sentinel(x):
    W[:] = 0
    k = [0]

    def f():
        W[k[0]] = x[k[0]]
        k[0] += 1
        return k[0]

    list(iter(f, 3))
    return (W * W).sum()


@programs(X)
def any_map(x):
    W[:] = 0
    any(map(lambda i: W.__setitem__(i, x[i]), range(3)))
    return (W * W).sum()


@programs(X)
def dict_comp(x):
    W[:] = 0
    d = dict(map(lambda i: (i, W.__setitem__(i, x[i])), range(3)))
    return (W * W).sum()


@programs(X)
def set_gen(x):
    W[:] = 0
    set(W.__setitem__(i, x[i]) for i in range(3))
    return (W * W).sum()


@programs(X)
def join_gen(x):
    W[:] = 0

    def g():
        for i in range(3):
            W[i] = x[i]
            yield "a"

    s = "".join(g())
    return (W * W).sum() * len(s)


@programs(X)
def dq_gen(x):
    W[:] = 0

    def g():
        for i in range(3):
            W[i] = x[i]
            yield "a"

    s = collections.deque(g(), maxlen=0)
    return (W * W).sum()


@programs(X)
def islice(x):
    W[:] = 0

    def g():
        for i in range(3):
            W[i] = x[i]
            yield i

    list(itertools.islice(g(), 2))
    next(itertools.chain(g()))
    return (W * W).sum()


@programs(X)
def use_format(x):

    class F:
        def __format__(self, s):
            return "ab"

    return x[0] * len(f"{F()}")


@programs(X)
def getattr_prop(x):
    return operator.attrgetter("d")(Box(x, x)).sum() + Box(x, x).d.sum()


@programs(X)
def map_attrget(x):
    return sum(v.sum() for v in map(operator.attrgetter("d"), [Box(x, 1.0), Box(x * x, 1.0)]))


@programs(X)
def sort_attr(x):
    return sorted([Box(x, 1.0), Box(x * x, 0.5)], key=operator.attrgetter("b"))[0].d.sum()


@programs(X)
def mcall_lambda(x):
    return sum(
        map(
            lambda m: m(Box(x, x)).sum(),
            [operator.methodcaller("area"), operator.methodcaller("area", 2.0)],
        )
    )


@programs(X)
def partial_c(x):
    return sum(v.sum() for v in map(functools.partial(np.multiply, x), [x, 2.0]))


@programs(X)
def partial_map(x):
    return sum(map(functools.partial(pow, 2.0), x)) + sum(map(functools.partial(math.pow, 2.0), x))


@programs(X)
def reduce_partial(x):
    return functools.reduce(functools.partial(lambda c, a, b: c * a * b, x[0]), x)


@programs(X)
def zip_star(x):
    a, b = zip(*[(v, v * v) for v in x])
    return sum(a) * sum(b)


@programs(X)
def map_zip_strict(x):
    return sum((a * b for a, b in zip(map(lambda v: v * v, x), (v for v in x), strict=True)))


@programs(X)
def method_map(x):
    l = []
    list(map(l.append, x * x))
    return l[0] * l[1] + sum(l)


@programs(X)
def dict_get(x):
    d = {"a": x[0], "b": x[1] * 2}
    return (
        sum(map(d.get, "ab")) + sum(map(d.__getitem__, ["a"])) + max(d, key=d.get).__len__() * x[2]
    )


@programs(X)
def sorted_dget(x):
    d = {"a": x[0], "b": x[1] * 2}
    return d[sorted(d, key=d.get)[0]] * d[min(d, key=d.__getitem__)]


@programs(X)
def arr_getitem_map(x):
    return sum(map(x.__getitem__, [0, 1, 1])) + sum(map((x * x).item, range(3)))


@programs(X)
def set_attr_map(x):
    p = Box(0.0, 0.0)
    list(map(p.__setattr__, ["a", "b"], x))
    return p.a * p.b


@programs(X)
def starmap_setitem(x):
    y = np.zeros(3)
    list(itertools.starmap(y.__setitem__, enumerate(x * x)))
    return (y * y).sum()


@programs(X)
def use_pprint(x):
    s = pprint.pformat([x[0], {"a": x}], width=20)
    return x[0] * len(s.split("\n")[0][:2])


@programs(X)
def use_textwrap(x):
    return x[0] * len(textwrap.fill("a b c d", width=3))


@programs(X)
def template(x):
    return x[1] * len(string.Template("$a and ${b}").safe_substitute(a=x[0], c=1)[:2]) + len(
        string.Formatter().format("{0:.1f}", x[0])
    )


@programs(X)
def use_csv(x):
    s = io.StringIO()
    csv.writer(s).writerow([1, "a"])
    return x[0] * len(s.getvalue())


@programs(X)
def counter_elements(x):
    return sum(x[i] for i in collections.Counter({0: 2, 1: 1}).elements())


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
