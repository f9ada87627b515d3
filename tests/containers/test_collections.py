"""Containers of `collections` and views of mappings, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import collections
import types

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


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
def simple_ns(x):
    n = types.SimpleNamespace(a=x[0], b=x)
    n.a *= 2
    return n.a * n.b.sum()


@programs(X)
def mappingproxy(x):
    return types.MappingProxyType({"a": x[0]})["a"] * 2


@programs(X)
def mproxy(x):
    d = {"a": x[0]}
    p = types.MappingProxyType(d)
    d["b"] = x[1]
    return p["a"] * p["b"] + sum(p.values()) + {**p}["a"] + dict(p)["b"] + p.get("a") * len(p)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
