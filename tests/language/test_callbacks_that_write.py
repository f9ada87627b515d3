"""Callbacks that write into arrays, handed to Python's compiled functions."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B905, C401, C417, E741, F841, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import collections
import contextlib
import csv
import functools
import heapq
import io
import itertools
import math
import operator
import pprint
import random
import statistics
import string
import textwrap

import numpy as np
import pytest

from tests.support.gradients import Program, Programs
from tests.support.subjects import Box

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


W = np.zeros(3)


def setw(i, x):
    W[i] = x


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
