"""Sequences of other types than Python's own, read by the interpreter."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B905, C401, C417, E741, PIE, PT, RET, RUF, SIM, UP

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


NT = collections.namedtuple("NT", "a b")


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


@programs(np.array([[2.1, 0.3, -0.4], [0.5, 1.9, 0.2]]))
def arrays_within_what_is_iterated_over(m):
    chained = sum(v * v for v in itertools.chain.from_iterable(m))
    first = next(itertools.chain.from_iterable(row for row in m))
    pairs = dict(m[:, 1:])
    pairs.update(m.T[:2])
    union = set(m[0]).union(m[1], [3.0])
    common = frozenset(m[0]).difference(m[1])
    return chained * first + sum(pairs.values()) * sum(union) + sum(common)


@programs(np.array([0.3, -1.2, 0.7]))
def methods_of_iterators_by_name(x):
    flat, moved = x.flat, x.flat
    total = moved.__next__() * flat.__getitem__(1) + next(moved)
    total += np.broadcast(x, x).__next__()[1] * iter(x).__next__()
    total += list(map(flat.__getitem__, [0, 2]))[1]
    return total + itertools.chain.from_iterable([x, x]).__next__() * sum(flat.__getitem__(x > 0))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
