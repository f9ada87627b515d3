"""Mappings of other types than Python's own, read by the interpreter."""
# The unusual style of the programs is the point of them.
# ruff: noqa: C416, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import collections

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


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


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
