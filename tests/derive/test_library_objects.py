"""The library's containers, context managers, caches and references, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B018, C417, E741, F841, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import array
import bisect
import collections
import contextlib
import dataclasses
import decimal
import fractions
import functools
import io
import operator
import random
import re
import statistics
import textwrap
import types
import weakref

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import DerivativeDropError, MissingRuleError
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
L = [0.3, -1.2, 0.7]


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
def rshuf(x):
    l = list(x)
    random.seed(3)
    random.shuffle(l)
    return l[0] * 2 + l[1] * 3 * l[2]


@programs(X)
def rshuf_obj(x):
    l = list(x)
    random.Random(3).shuffle(l)
    return l[0] * 2 + l[1] * 3 * l[2]


@programs(L)
def rshuf_arg(l):
    random.Random(5).shuffle(l)
    return l[0] * 2 + l[1] * 3 * l[2]


@programs(X)
def rshuf_arr(x):
    y = x.copy()
    random.Random(3).shuffle(y)
    return y[0] * 2 + y[1] * 3 * y[2]


@programs(X)
def rchoice(x):
    random.seed(3)
    return random.choice(list(x)) * random.choice(x)


@programs(X)
def rchoices(x):
    random.seed(3)
    a = random.choices(list(x), k=2)
    return a[0] * a[1]


@programs(X)
def rchoices_w(x):
    random.seed(3)
    a = random.choices([1.0, 2.0, 3.0], weights=list(x * x), k=2)
    return a[0] * x[0]


@programs(X)
def rsample(x):
    random.seed(3)
    a = random.sample(list(x), 2)
    return a[0] * a[1] ** 2


@programs(X)
def runif(x):
    random.seed(3)
    return random.uniform(0, 1) * x[0] + random.gauss(0, 1) * x[1]


@programs(X)
def runif_act(x):
    random.seed(3)
    return random.uniform(x[0], x[1])


@programs(X)
def rgauss_act(x):
    random.seed(3)
    return random.gauss(x[0], x[2])


@programs(X)
def rexpo(x):
    random.seed(3)
    return random.expovariate(x[2])


@dataclasses.dataclass
class DC:
    a: float
    b: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class FD:
    a: float
    b: float = 2.0


@programs(X)
def drep(x):
    d = dataclasses.replace(FD(x[0]), b=x[1])
    return d.a * d.b


@programs(X)
def drep2(x):
    d = dataclasses.replace(DC(x[0]), b=[x[1]])
    return d.a * d.b[0]


@programs(X)
def dasd(x):
    d = dataclasses.asdict(DC(x[0], [x[1]]))
    return d["a"] * d["b"][0] + dataclasses.astuple(DC(x[0], [x[2]]))[1][0]


@programs(X)
def ntrep(x):
    NT = collections.namedtuple("NT", "a b")
    n = NT(x[0], x[1])._replace(a=x[2])
    return n.a * n.b + sum(n._asdict().values())


class DCopy:
    def __init__(self, a):
        self.a = a

    def __copy__(self):
        return DCopy(self.a * 2)

    def __deepcopy__(self, memo):
        return DCopy(self.a * 3)


class Red:
    def __init__(self, a):
        self.a = a

    def __reduce__(self):
        return (Red, (self.a * 5,))


class GS:
    def __init__(self, a):
        self.a = a

    def __getstate__(self):
        return {"a": self.a * 2}

    def __setstate__(self, s):
        self.a = s["a"] * 3


@programs(X)
def exst(x):
    y = x.copy()
    with contextlib.ExitStack() as st:
        st.callback(lambda: y.__setitem__(0, y[1] * 2))
        st.callback(np.multiply, y, 2.0, out=y)
        y[2] = y[0] * y[0]
    return (y * y).sum()


@programs(X)
def exst2(x):
    log = []

    @contextlib.contextmanager
    def cm(v):
        yield (v * v)
        log.append(v * 3)

    with contextlib.ExitStack() as st:
        a = st.enter_context(cm(x[0]))
        b = st.enter_context(cm(x[1]))
    return a * b + log[0] * log[1]


@programs(X)
def exst_push(x):
    r = []

    def ex(*exc):
        r.append(x[0] * x[1])
        return True

    with contextlib.ExitStack() as st:
        st.push(ex)
        raise ValueError
    return r[0]


@programs(X)
def exst_popall(x):
    r = []
    with contextlib.ExitStack() as st:
        st.callback(r.append, x[0] * 2)
        keep = st.pop_all()
    n = len(r)
    keep.close()
    return r[0] * (n + 1)


@programs(X)
def supp(x):
    y = x[0]
    with contextlib.suppress(ZeroDivisionError):
        y = y * 2
        1 / 0
        y = y * 100
    return y


@programs(X)
def nullc(x):
    with contextlib.nullcontext(x * x) as z:
        return z.sum()


@programs(X)
def redir(x):
    s = io.StringIO()
    with contextlib.redirect_stdout(s):
        print(x[0])
        y = x[0] * x[1]
    return y * len(s.getvalue()[:3])


class Cl:
    def __init__(self, v):
        self.v = v
        self.out = []

    def close(self):
        self.out.append(self.v * self.v)


@programs(X)
def closing(x):
    c = Cl(x[0])
    with contextlib.closing(c) as k:
        a = k.v * 2
    return a + c.out[0]


@programs(X)
def cdeco(x):
    r = []

    class cm(contextlib.ContextDecorator):
        def __enter__(self):
            r.append(x[0] * 2)
            return self

        def __exit__(self, *a):
            r.append(x[1] * 3)
            return False

    @cm()
    def f(v):
        return v * v

    return f(x[2]) * r[0] * r[1]


@programs(X)
def cmdeco(x):
    r = []

    @contextlib.contextmanager
    def cm():
        r.append(x[0] * 2)
        yield
        r.append(x[1] ** 2)

    @cm()
    def f(v):
        return v * v

    return f(x[2]) * f(x[0]) * sum(r)


@programs(X)
def chainm(x):
    a = {"p": x[0]}
    b = {"p": x[1], "q": x[2] * 2}
    c = collections.ChainMap(a, b)
    c["q2"] = x[1] ** 2
    return c["p"] * c["q"] + a["q2"] + sum(c.values())


@programs(X)
def chainm2(x):
    c = collections.ChainMap({"p": x[0]}).new_child({"r": x[1]})
    d = dict(c)
    c["p"] = x[2]
    return d["p"] * d["r"] * c["p"] + c.parents["p"]


class UD(collections.UserDict):
    def __setitem__(self, k, v):
        super().__setitem__(k, v * 2)


@programs(X)
def udict(x):
    d = UD(a=x[0])
    d["b"] = x[1]
    d.update({"c": x[2]})
    return d["a"] * d["b"] + d.get("c") ** 2 + len(d)


class UL(collections.UserList):
    def total(self):
        return sum(self.data)


@programs(X)
def ulist(x):
    u = UL(x)
    u.append(x[0] ** 2)
    u += [x[1]]
    v = u + [x[2] * 3]
    v.sort()
    return u.total() * v[0] + v[1:3].total() + u.pop()


@programs(X)
def counter(x):
    c = collections.Counter(a=2, b=3)
    return sum((x[i] * n for i, (k, n) in enumerate(c.most_common())))


@programs(X)
def counter_act(x):
    c = collections.Counter()
    c["a"] += x[0]
    c["b"] += x[1] * 2
    c["a"] += x[2]
    return c["a"] * c["b"]


@programs(X)
def counter_upd(x):
    c = collections.Counter({"a": x[0]})
    c.update({"a": x[1], "b": x[2]})
    return c["a"] ** 2 * c["b"] + c.total()


@programs(X)
def counter_mc(x):
    c = collections.Counter({"a": x[0], "b": x[1], "c": x[2]})
    return c.most_common(1)[0][1] * 2 + (c + c)["a"]


@programs(X)
def counter_sub(x):
    c = collections.Counter({"a": x[0]})
    c.subtract({"a": x[2]})
    return c["a"] ** 2


@programs(X)
def dq(x):
    d = collections.deque(maxlen=2)
    for v in x:
        d.append(v * v)
    return d[0] * d[1]


@programs(X)
def dq2(x):
    d = collections.deque(x, 3)
    d.rotate(1)
    d.appendleft(x[0] * x[1])
    d.extend([x[2]])
    return d[0] + 2 * d[1] * d[2]


@programs(X)
def odict(x):
    d = collections.OrderedDict(a=x[0], b=x[1])
    d.move_to_end("a")
    _, v = d.popitem()
    return v * 3 + d["b"]


@programs(X)
def ddict(x):
    d = collections.defaultdict(lambda: x[0] * 2)
    d["q"] += x[1]
    return d["q"] * d["r"]


@programs(X)
def ddict_l(x):
    d = collections.defaultdict(list)
    for i, v in enumerate(x):
        d[i % 2].append(v * v)
    return sum(d[0]) * d[1][0]


@programs(X)
def weakr(x):
    p = Pt(x[0], x[1])
    r = weakref.ref(p)
    return r().a * r().b


@programs(X)
def weakval(x):
    p = Pt(x[0], x[1])
    d = weakref.WeakValueDictionary()
    d["k"] = p
    return d["k"].a * 2


@programs(X)
def weakkey(x):
    p = Pt(x[0], x[1])
    d = weakref.WeakKeyDictionary()
    d[p] = x[2] * 2
    return d[p] * p.a


@programs(X)
def weakmeth(x):
    p = Pt(x[0], x[1])
    m = weakref.WeakMethod(p.area)
    return m()(x[2])


@programs(X)
def arr(x):
    a = array.array("d", [1.0, 2.0])
    return a[0] * x[0] + a[1] * x[1]


@programs(X)
def twr(x):
    return len(textwrap.dedent(f"  {x[0]}")) * 0 + x[0] * len(textwrap.wrap("aaa bb c", 3))


@programs(X)
def zst(x):
    return sum((a * b for a, b in zip(x, x * x, strict=True)))


@programs(X)
def zst_err(x):
    try:
        return sum((a * b for a, b in zip(x, [1, 2], strict=True)))
    except ValueError:
        return x.sum()


@programs(X)
def enum_(x):
    return sum((i * v * v for i, v in enumerate(x, start=2)))


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


@programs(X)
def simple_ns(x):
    n = types.SimpleNamespace(a=x[0], b=x)
    n.a *= 2
    return n.a * n.b.sum()


@programs(X)
def mappingproxy(x):
    return types.MappingProxyType({"a": x[0]})["a"] * 2


@programs(X)
def generators(x):

    def g():
        t = 0.0
        while True:
            v = yield t
            if v is None:
                return
            t = t + v * v

    it = g()
    next(it)
    for v in x:
        r = it.send(v)
    return r


@programs(X)
def opmul(x):
    return (
        operator.mul(x[0], x[1])
        + operator.matmul(x, x)
        + operator.pow(x[2], 2)
        + operator.iadd(x[0], x[1])
        + operator.concat([x[0]], [x[1]])[1]
    )


@programs(X)
def iadd_arr(x):
    y = x.copy()
    operator.iadd(y, x)
    operator.setitem(y, 0, x[1] ** 2)
    return (y * y).sum()


@programs(X)
def attrset(x):
    p = Pt(x[0], 1.0)
    p.a = x[1] * x[0]
    return p.a * vars(p)["b"]


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
def resub2(x):

    vals = []

    def rep(m):
        vals.append(x[int(m.group())] ** 2)
        return ""

    re.compile("\\d").sub(rep, "a0b2")
    return sum(vals)


@programs(X)
def bkeys(x):
    l = sorted(enumerate(x), key=lambda t: t[1])
    i = bisect.bisect(l, 0.5, key=lambda t: t[1] * 1.0)
    j = bisect.bisect_left(l, 0.5, 0, 2, key=operator.itemgetter(1))
    bisect.insort_left(l, (9, x[0] * x[1]), key=operator.itemgetter(1))
    return sum((k * v for k, (i, v) in enumerate(l))) + i * x[0] + j * x[1]


@programs(X)
def pv(x):
    return (
        statistics.pvariance(x, x[0])
        + statistics.variance(list(x), xbar=0.5)
        + statistics.pstdev(x, mu=0.1)
        + statistics.stdev(x, x[1])
    )


@programs(X)
def hm(x):
    return statistics.harmonic_mean(x * x, weights=[1.0, x[2], 2.0]) + statistics.harmonic_mean(
        [x[0], 2]
    )


@programs(X)
def mean_mix(x):
    return (
        statistics.mean([x[0], 2, x[1] * 3.0, True])
        + statistics.mean(v * v for v in x)
        + float(statistics.mean([fractions.Fraction(1, 3), 2]))
    )


@programs(X)
def smode(x):
    return statistics.mode([1, 1, 2]) * x[0] + statistics.median_grouped([1.0, 2.0, 3.0]) * x[1]


@programs(X)
def lru_evict(x):
    n = []

    @functools.lru_cache(maxsize=1)
    def f(k):
        n.append(k)
        return x[k]

    f(0)
    f(1)
    f(0)
    f(0)
    return len(n) * f(1) + f.cache_info().misses


@programs(X)
def lru_typed(x):

    @functools.lru_cache(typed=True)
    def f(k):
        return x[0] * (2 if isinstance(k, int) else 3)

    return f(1) * f(1.0)


@programs(X)
def lru_clear(x):
    n = []

    @functools.cache
    def f(k):
        n.append(k)
        return x[k]

    f(0)
    f.cache_clear()
    f(0)
    return len(n) * f(0)


@programs(X)
def lru_unhash(x):

    @functools.cache
    def f(k):
        return x[0]

    try:
        f([1])
    except TypeError:
        return x[1]


@programs(X)
def lru_kw(x):

    @functools.cache
    def f(a, b=1):
        return x[a] * b

    return f(0, b=2) * f(a=1) * f(0, b=2)


@programs(np.zeros(3))
def lru_equal_actives(x):

    @functools.cache
    def f(v):
        return v * v + v

    return f(x[0]) + 2 * f(x[1]) + 3 * f(x[2])


@programs(np.zeros(3))
def lru_tuple_key(x):

    @functools.cache
    def f(t):
        return t[0] * 2 + t[1]

    return f((x[0], x[1])) + f((x[1], x[2]))


@programs(X)
def lru_arr_result(x):

    @functools.cache
    def grid(n):
        return x * n

    g = grid(2)
    g[0] = 0.0
    return (grid(2) ** 2).sum()


@programs(X)
def lru_map(x):

    @functools.cache
    def f(k):
        return x[k] ** 2

    return sum(map(f, [0, 1, 1, 2]))


@programs(X)
def ccat(x):
    return (
        operator.concat([x[0]], [x[1]])[1] * operator.iconcat([x[0]], (x[2],))[1]
        + operator.countOf([1, 1, 2], 1)
        + operator.indexOf([x[0], x[1]], x[1])
    )


@programs(X)
def mproxy(x):
    d = {"a": x[0]}
    p = types.MappingProxyType(d)
    d["b"] = x[1]
    return p["a"] * p["b"] + sum(p.values()) + {**p}["a"] + dict(p)["b"] + p.get("a") * len(p)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@programs(X)
def statistics_of_distribution(x):
    made = statistics.NormalDist.from_samples([1.0, 2.0, 4.0])
    return made.pdf(x[0]) + (made * 2.0 + x[1]).mean + made.zscore(x[2])


REFUSED = {
    "fraction": (lambda x: float(fractions.Fraction(x[0])), "as_integer_ratio"),
    "decimal": (lambda x: float(decimal.Decimal(x[0])), "decimal.Decimal"),
    "array.array": (lambda x: array.array("d", [x[0]])[0], "array.array"),
    "array.array set": (lambda x: array.array("d", [1.0]).__setitem__(0, x[0]), "active value"),
    "array.array under an array": (lambda x: writes_under(x), "active data into its buffer"),
    "weakref.proxy": (lambda x: weakref.proxy(Pt(x, x)).a[0], "weakref.proxy"),
    "weakref callback": (lambda x: weakref.ref(Pt(x, x), lambda r: x.sort()) and x[0], "weakref"),
    "weakref.finalize": (lambda x: weakref.finalize(Pt(x, x), x.sort)() or x[0], "weakref"),
}


def writes_under(x):
    numbers = array.array("d", [1.0, 2.0, 3.0])
    np.frombuffer(numbers)[:] = x
    return numbers[0]


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_lose_the_derivative_is_refused(name):
    f, text = REFUSED[name]
    with pytest.raises((DerivativeDropError, MissingRuleError), match=text) as caught:
        grad(f)(X.copy())
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


def test_what_a_cache_remembers_stays_outside():
    @functools.cache
    def scaled(k):
        return weights[k] * 2.0

    weights = np.ones(2)
    assert scaled(0) == 2.0

    def f(x):
        weights[:] = x
        return scaled(0) * scaled(1)

    np.testing.assert_array_equal(grad(f)(np.array([2.0, 3.0])), [12.0, 8.0])
    assert scaled.cache_info().currsize == 1
    assert scaled(1) == 2.0


def test_equal_active_numbers_are_different_keys():
    @functools.cache
    def square(v):
        return (v + 1.0) ** 2

    def f(x):
        return square(x[0]) + 10.0 * square(x[1])

    np.testing.assert_array_equal(grad(f)(np.zeros(2)), [2.0, 20.0])
