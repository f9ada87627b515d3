"""Copies by the `copy` module, with the hooks of classes, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import types

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


NT = collections.namedtuple("NT", "a b")


@programs(X)
def d_nt(x):
    return (copy.deepcopy(NT(x, x * x)).b * x).sum()


@programs(X)
def d_dq(x):
    return (copy.deepcopy(collections.deque([x * x]))[0] * x).sum()


@programs(X)
def d_dd(x):
    d = collections.defaultdict(list)
    d["a"].append(x * x)
    return (copy.deepcopy(d)["a"][0] * x).sum()


@programs(X)
def d_od(x):
    return (copy.deepcopy(collections.OrderedDict(a=x * x))["a"] * x).sum()


@programs(X)
def d_ns(x):
    return (copy.deepcopy(types.SimpleNamespace(a=x * x)).a * x).sum()


class Sl:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


@programs(X)
def d_slots(x):
    return (copy.deepcopy(Sl(x * x)).a * x).sum() + (copy.copy(Sl(x)).a * x).sum()


class Pt:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def area(self, k=1.0):
        return self.a * self.b * k


class ML(list):
    pass


@programs(X)
def d_ml(x):
    return (copy.deepcopy(ML([x * x]))[0] * x).sum() + (copy.copy(ML([x * x]))[0] * x).sum()


class MD(dict):
    pass


@programs(X)
def d_md(x):
    return (copy.deepcopy(MD(a=x * x))["a"] * x).sum()


@programs(X)
def d_partial(x):
    return copy.deepcopy(functools.partial(np.multiply, x * x))(x).sum()


@programs(X)
def d_method(x):
    p = Pt(x * x, x)
    return copy.deepcopy(p.area)(2.0).sum()


@programs(X)
def d_fd(x):
    return (copy.deepcopy(FDa(x * x)).a * x).sum()


@dataclasses.dataclass(frozen=True)
class FDa:
    a: object


@programs(X)
def d_cm(x):
    return (copy.deepcopy(collections.ChainMap({"a": x * x}))["a"] * x).sum()


@programs(X)
def d_ul(x):
    return (copy.deepcopy(collections.UserList([x * x]))[0] * x).sum() + (
        copy.copy(collections.UserDict(a=x * x))["a"] * x
    ).sum()


@programs(X)
def d_set(x):
    return sum(copy.deepcopy({x[0] * 2, x[1]}))


@programs(X)
def d_fs(x):
    return sum(copy.deepcopy(frozenset({x[0] * 2, x[1]})))


@programs(X)
def d_it(x):
    return sum((v * x).sum() for v in copy.copy([x * x]))


class GS:
    def __init__(self, a):
        self.a = a

    def __getstate__(self):
        return {"a": self.a * self.a}

    def __setstate__(self, s):
        self.a = s["a"] * 3


@programs(X)
def d_gs(x):
    return (copy.copy(GS(x)).a * x).sum() + (copy.deepcopy(GS(x)).a * x).sum()


class GS1:
    def __init__(self, a):
        self.a = a

    def __getstate__(self):
        return {"a": self.a * self.a}


@programs(X)
def d_gs1(x):
    return (copy.copy(GS1(x)).a * x).sum() + (copy.deepcopy(GS1(x)).a * x).sum()


class SS:
    def __init__(self, a):
        self.a = a

    def __setstate__(self, s):
        self.a = s["a"] * s["a"]


@programs(X)
def d_ss(x):
    return (copy.copy(SS(x)).a * x).sum() + (copy.deepcopy([SS(x)])[0].a * x).sum()


class RD:
    def __init__(self, a):
        self.a = a

    def __reduce__(self):
        return (RD, (self.a * self.a,))


@programs(X)
def d_rd(x):
    return (copy.copy(RD(x)).a * x).sum() + (copy.deepcopy([RD(x)])[0].a * x).sum()


class RX:
    def __init__(self, a):
        self.a = a

    def __reduce_ex__(self, n):
        return (RX, (self.a * n,), {"b": self.a * 2})


@programs(X)
def d_rx(x):
    r = copy.copy(RX(x))
    q = copy.deepcopy(RX(x))
    return (r.a * r.b).sum() + (q.a * q.b * x).sum()


class NA:
    def __new__(cls, a):
        o = object.__new__(cls)
        o.a = a * a
        return o

    def __getnewargs__(self):
        return (self.a * 2,)


@programs(X)
def d_na(x):
    return (copy.copy(NA(x)).a * x).sum() + (copy.deepcopy(NA(x)).a * x).sum()


@programs(X)
def d_nested_shared(x):
    a = x * x
    o = Pt(a, [a, a[1:]])
    c = copy.deepcopy(o)
    c.a[0] = 5 * x[2]
    return (c.b[0] * x).sum() + c.b[1].sum()


@programs(X)
def d_copy_obj(x):
    o = Pt(x * x, [x])
    c = copy.copy(o)
    c.a[0] = x[1]
    c.b.append(x)
    return (o.a * x).sum() + len(o.b) * x[0]


@programs(X)
def d_cyc(x):
    o = Pt(x * x, None)
    o.b = o
    c = copy.deepcopy(o)
    return (c.b.b.a * x).sum()


@programs(X)
def d_arr_method(x):
    return (x.__copy__() * copy.copy(x).__deepcopy__({})).sum() if hasattr(x, "__copy__") else 0.0


@programs(X)
def d_dict_copy(x):
    d = {"a": [x]}
    e = d.copy()
    e["a"].append(x * x)
    return d["a"][1].sum()


@programs(X)
def d_dq_copy(x):
    d = collections.deque([x * x])
    return (d.copy()[0] * copy.copy(d)[0]).sum()


@programs(X)
def d_enum(x):
    return (copy.deepcopy({"k": (x * x, [x])})["k"][0] * x).sum()


@programs(X)
def d_gen(x):
    return (copy.deepcopy(np.broadcast_to(x * x, (2, 3))) * x).sum()


@programs(X)
def d_weird(x):
    return (copy.deepcopy((1, x * x, "a", None, len, np.sum, {1: x}))[1] * x).sum()


@programs(X)
def d_exc(x):
    e = copy.copy(ValueError(x * x))
    return (e.args[0] * x).sum() + (copy.deepcopy(ValueError(x * x)).args[0] * x).sum()


@programs(X)
def d_mproxy(x):
    return (copy.copy(types.SimpleNamespace(a=x * x)).a * x).sum()


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
