"""Sequences of other types than Python's own, read by NumPy."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import collections

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


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
