"""Sequences and mappings of other types than Python's own, read by NumPy and by the interpreter."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B905, C401, C416, C417, E741, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import collections
import functools
import heapq
import itertools
import math
import operator

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


class ML(list):
    pass


class MT(tuple):
    pass


NT = collections.namedtuple("NT", "a b")


class S:
    def __init__(self, a):
        self.a = a

    def __len__(self):
        return len(self.a)

    def __getitem__(self, i):
        return self.a[i] * 2


class S2(collections.abc.Sequence):
    def __init__(self, a):
        self.a = a

    def __len__(self):
        return len(self.a)

    def __getitem__(self, i):
        return self.a[i] * 2


@programs(X)
def s_sum(x):
    return np.sum(S(x))


@programs(X)
def s_sin(x):
    return np.sin(S(x)).sum()


@programs(X)
def s_mul(x):
    return (x * S(x)).sum() if False else np.multiply(x, S(x)).sum()


@programs(X)
def s_rowobj(x):
    return np.sum(S([x, x]))


@programs(X)
def s_asarray(x):
    return np.asarray(S(x)).sum()


@programs(X)
def s_array(x):
    return np.array(S2(x)).sum() + np.array([S2(x), S2(x)]).sum()


@programs(X)
def s_conc(x):
    return np.concatenate([S(x), S2(x)]).sum()


@programs(X)
def s_dot(x):
    return np.dot(S(x), x)


@programs(X)
def s_set(x):
    y = np.zeros(3)
    y[:] = S(x)
    return y.sum()


@programs(X)
def s_mlist(x):
    return np.sum(ML([x, x])) + np.sum(ML(list(x)))


@programs(X)
def s_mlist2(x):
    return np.sin(ML([x, x])).sum() + np.array(ML([x, x])).sum()


@programs(X)
def s_nt(x):
    return (
        np.sum(NT(x, x * x))
        + np.prod(NT(x[0], x[1]))
        + np.stack(NT(x, x)).sum()
        + np.sin(NT(x, x)).sum()
    )


@programs(X)
def s_mt(x):
    return np.sum(MT((x, x))) + np.concatenate(MT((x, x))).sum()


@programs(X)
def s_dq(x):
    return np.sum(collections.deque([x, x]))


@programs(X)
def s_dq2(x):
    return np.array(collections.deque([x, x])).sum()


@programs(X)
def s_dq3(x):
    return np.concatenate(collections.deque([x, x])).sum()


@programs(X)
def s_ul(x):
    return np.sum(collections.UserList(x)) + np.array(collections.UserList([x, x])).sum()


@programs(X)
def s_dqset(x):
    y = np.zeros((2, 3))
    y[:] = collections.deque([x, x])
    return y.sum()


@programs(X)
def s_mlset(x):
    y = np.zeros((2, 3))
    y[:] = ML([x, x])
    return y.sum()


@programs(X)
def s_dqsin(x):
    return np.sin(collections.deque([x, x])).sum()


@programs(X)
def s_dictvals(x):
    return np.sum(list({"a": x}.values()))


@programs(X)
def s_dqvecnorm(x):
    return np.linalg.norm(collections.deque([x, x]))


@programs(X)
def s_nested(x):
    return np.sum([[x, collections.deque(x)], (x, x)])


@programs(X)
def s_where(x):
    return np.where([True, False, True], ML(x), collections.deque(x)).sum()


@programs(X)
def s_einsum(x):
    return np.einsum("i,i", ML(x), collections.deque(x))


@programs(X)
def s_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 1, 1], collections.deque(x))
    return (y * y).sum()


class Mp(collections.abc.Mapping):
    def __init__(self, a):
        self.a = a

    def __getitem__(self, k):
        return self.a * 2 if k == "p" else self.a * self.a

    def __iter__(self):
        yield "p"
        yield "q"

    def __len__(self):
        return 2


class Kd:
    def __init__(self, a):
        self.a = a

    def keys(self):
        return ["p", "q"]

    def __getitem__(self, k):
        return self.a * 2 if k == "p" else self.a * self.a


class Slices:
    def __init__(self, a):
        self.a = a

    def __len__(self):
        return len(self.a)

    def __getitem__(self, i):
        return self.a[i : i + 1] * 2 if i < len(self.a) else self.stop()

    def stop(self):
        raise IndexError


class It:
    def __init__(self, a):
        self.a = a
        self.k = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k == 3:
            raise StopIteration
        self.k += 1
        return self.a[self.k - 1 : self.k] * 2


def g(p, q):
    return (p * q).sum()


@programs(X)
def m_star(x):
    return g(**Mp(x))


@programs(X)
def m_star2(x):
    return g(**Kd(x))


@programs(X)
def m_lit(x):
    d = {**Mp(x)}
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_dict(x):
    d = dict(Mp(x))
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_dict2(x):
    d = dict(Kd(x), r=x)
    return (d["p"] * d["q"] * d["r"]).sum()


@programs(X)
def m_update(x):
    d = {}
    d.update(Mp(x))
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_update2(x):
    d = {}
    d.update(Kd(x))
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_or(x):
    d = {"p": x}
    d |= Mp(x)
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_od(x):
    d = collections.OrderedDict(Mp(x))
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_dd(x):
    d = collections.defaultdict(list, Mp(x))
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_items(x):
    return sum(((v * v).sum() for k, v in Mp(x).items())) + sum(v.sum() for v in Mp(x).values())


@programs(X)
def m_dictcomp(x):
    d = {k: v for k, v in Mp(x).items()}
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_cm(x):
    d = dict(collections.ChainMap({"p": x * 2}, Mp(x)))
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_ud(x):
    d = collections.UserDict(Mp(x))
    return (d["p"] * d["q"]).sum()


@programs(X)
def m_fromkeys(x):
    d = dict.fromkeys(Mp(x), x * x)
    return d["p"].sum()


@programs(X)
def q_star(x):
    return (lambda a, b, c: (a * b * c).sum())(*Slices(x))


@programs(X)
def q_list(x):
    return sum((v * v).sum() for v in [*Slices(x)]) + sum((v * v).sum() for v in list(Slices(x)))


@programs(X)
def q_unpack(x):
    a, b, c = Slices(x)
    return (a * b * c).sum()


@programs(X)
def q_unpack2(x):
    a, *b = It(x)
    return (a * b[0] * b[1]).sum()


@programs(X)
def q_zip(x):
    return sum(((a * b).sum() for a, b in zip(Slices(x), It(x))))


@programs(X)
def q_chain(x):
    return sum((a * a).sum() for a in itertools.chain(Slices(x), It(x)))


@programs(X)
def q_ext(x):
    l = [x[:1]]
    l.extend(It(x))
    l += Slices(x)
    return sum((a * a).sum() for a in l)


@programs(X)
def q_slice(x):
    l = [0.0]
    l[:] = It(x)
    return sum((a * a).sum() for a in l)


@programs(X)
def q_dq(x):
    d = collections.deque(It(x), maxlen=2)
    d.extend(Slices(x))
    d.extendleft(It(x))
    return sum((a * a).sum() for a in d)


@programs(X)
def q_in(x):
    return x[0] * (x[1] in [v.item() for v in It(x)])


@programs(X)
def q_yieldfrom(x):

    def gen():
        yield from It(x)

    return sum((a * a).sum() for a in gen())


@programs(X)
def q_map(x):
    return sum((a * a).sum() for a in map(lambda v: v * x[0], It(x)))


@programs(X)
def q_set(x):
    return sum(set(v.item() for v in It(x)))


@programs(X)
def q_sorted(x):
    return sorted(It(x), key=lambda v: v[0])[0].sum()


@programs(X)
def q_enum(x):
    return sum(((i * v * v).sum() for i, v in enumerate(It(x), 1)))


@programs(X)
def q_rev(x):

    class R(Slices):
        def __reversed__(self):
            return iter([self.a * 3])

    return sum((v * v).sum() for v in reversed(Slices(x))) + sum(v.sum() for v in reversed(R(x)))


@programs(X)
def q_islice(x):
    return sum((v * v).sum() for v in itertools.islice(It(x), 2)) + sum(
        (v * v).sum() for v in itertools.islice(Slices(x), 1, None)
    )


@programs(X)
def q_next(x):
    it = It(x)
    a = next(it)
    return (a * next(iter(it))).sum()


@programs(X)
def q_red(x):
    return (
        functools.reduce(operator.mul, It(x)).sum()
        + functools.reduce(operator.add, Slices(x)).sum()
    )


@programs(X)
def q_max(x):
    return max(It(x)).sum() + min(Slices(x)).sum()


@programs(X)
def q_any(x):
    return any(v.sum() > 0 for v in It(x)) * x[0]


@programs(X)
def q_np(x):
    return np.concatenate(list(It(x))).prod() + np.stack([*Slices(x)]).prod()


@programs(X)
def q_pairw(x):
    return sum(((a * b).sum() for a, b in itertools.pairwise(It(x))))


@programs(X)
def q_tee(x):
    a, b = itertools.tee(It(x))
    next(b)
    return sum(((p * q).sum() for p, q in zip(a, b)))


@programs(X)
def q_prod(x):
    return sum(((a * b).sum() for a, b in itertools.product(It(x), Slices(x))))


@programs(X)
def q_comb(x):
    return sum(((a * b).sum() for a, b in itertools.combinations(It(x), 2)))


@programs(X)
def q_cyc(x):
    return sum(((a * b).sum() for a, b in zip(itertools.cycle(It(x)), range(1, 6))))


@programs(X)
def q_zl(x):
    return sum(((a * b).sum() for a, b in itertools.zip_longest(It(x), [1.0], fillvalue=2.0)))


@programs(X)
def q_accu(x):
    return sum(v.sum() for v in itertools.accumulate(It(x)))


@programs(X)
def q_groupby(x):
    return sum(
        (
            k * sum((v.sum() for v in g))
            for k, g in itertools.groupby(It(x), key=lambda v: 1 if v[0] > 0 else 2)
        )
    )


@programs(X)
def q_compress(x):
    return sum(v.sum() for v in itertools.compress(It(x), Slices(np.array([1.0, 0.0, 1.0]))))


@programs(X)
def q_dictzip(x):
    d = dict(zip("abc", It(x)))
    return (d["a"] * d["c"]).sum()


@programs(X)
def q_dictpairs(x):
    d = dict([("a", v) for v in It(x)])  # noqa: C404
    return d["a"].sum()


@programs(X)
def q_join(x):
    return len("".join(str(int(v[0] > 0)) for v in It(x))) * x[0]


@programs(X)
def q_frozen(x):
    return sum(v for v in frozenset(v.item() for v in It(x)))


@programs(X)
def q_math(x):
    return math.fsum(v.item() for v in It(x)) + math.prod(v.item() for v in It(x))


@programs(X)
def q_isdisj(x):
    return x[0] * len({1.0}.union(v.item() for v in It(x)))


@programs(X)
def q_tuple(x):
    return sum((v * v).sum() for v in tuple(It(x)))


@programs(X)
def q_nt(x):
    NT = collections.namedtuple("NT", "a b c")
    n = NT._make(It(x))
    m = NT(*It(x))
    return (n.a * m.c).sum()


@programs(X)
def q_sum(x):
    return sum(It(x), x[:1]).sum()


@programs(X)
def q_listsub(x):

    class L(list):
        pass

    return sum((v * v).sum() for v in L(It(x)))


@programs(X)
def q_index(x):
    return x[[v.item() > 0 for v in It(x)]].sum()


@programs(X)
def q_heap(x):

    return sum(v for v in heapq.merge((v.item() for v in It(x)), [5.0]))


@programs(X)
def q_setupd(x):
    s = set()
    s.update(v.item() for v in It(x))
    return sum(s)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
