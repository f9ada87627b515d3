"""Less common constructs of classes, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: E741, UP014

from __future__ import annotations

import dataclasses
import typing

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(2.0)
def prop_setter_chain(x):

    class T:
        def __init__(s):
            s._v = 0.0

        @property
        def v(s):
            return s._v

        @v.setter
        def v(s, w):
            s._v = w * 2

        @v.deleter
        def v(s):
            s._v = x

    t = T()
    t.v = x
    t.v += 1.0
    y = t.v
    del t.v
    return y * t.v


@programs(2.0)
def class_prop(x):

    class M(type):
        @property
        def k(cls):
            return cls.z * 2

    class T(metaclass=M):
        z = x

    return T.k * x


@programs(2.0)
def getattribute(x):

    class T:
        def __getattribute__(s, n):
            v = object.__getattribute__(s, n)
            return v * 2 if isinstance(v, float) else v

    t = T()
    t.v = x
    return t.v * x


@programs(2.0)
def index_obj(x):

    class T:
        def __getitem__(s, i):
            return x * len(i) if isinstance(i, tuple) else x

        def __class_getitem__(c, i):
            return x * 3

    return T()[1, 2] * T()[0] * T[int]


@programs(2.0)
def radd_mixed(x):

    class V:
        __array_priority__ = 100
        __array_ufunc__ = None

        def __init__(s, v):
            s.v = v

        def __rmul__(s, o):
            return np.sum(o * s.v)

        def __radd__(s, o):
            return o + s.v

        def __rsub__(s, o):
            return o - s.v

    return np.ones(3) * V(x) + (x + V(x * x)) + sum([V(x), V(x)], 0.0) + (1 - V(x))


@programs(2.0)
def cmp_obj(x):

    class V:
        def __init__(s, v):
            s.v = v

        def __eq__(s, o):
            return s.v == o.v

        def __hash__(s):
            return hash(s.v)

        def __lt__(s, o):
            return s.v < o.v

    d = {V(x): x * 3}
    l = [V(x), V(1.0)]
    l.sort()
    return d[V(x)] * l[0].v * l.index(V(x))


@programs(2.0)
def bool_obj(x):

    class V:
        def __bool__(s):
            return False

    return x if V() else x * x


@programs(2.0)
def len_obj(x):

    class V:
        def __len__(s):
            return 0

    return (x if V() else x * x) + (x if not V() else 0.0)


@programs(2.0)
def contains_obj(x):

    class V:
        def __contains__(s, o):
            return o > 1

    return x * x if x in V() else x


@programs(2.0)
def nested_fn_default_active(x):
    fs = []
    for k in range(3):

        def f(v, k=k, s=x * k):
            return v * s

        fs.append(f)
    return sum(f(x) for f in fs)


@programs(2.0)
def typed(x):
    T = typing.NamedTuple("T", [("a", float), ("b", float)])
    t = T(x, b=x * x)
    return t.a * t.b + t._replace(a=3.0 * x).a


@programs(2.0)
def typeddict(x):

    class T(typing.TypedDict):
        a: float

    t = T(a=x)
    return t["a"] ** 2


@programs(2.0)
def slots_dc(x):

    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class T:
        a: float
        b: float = 2.0

    t = T(a=x)
    u = dataclasses.replace(t, b=x * x)
    return u.a * u.b


@programs(2.0)
def dc_inherit(x):

    @dataclasses.dataclass
    class A:
        a: float

    @dataclasses.dataclass
    class B(A):
        b: float = 0.0
        c: dataclasses.InitVar[float] = 1.0

        def __post_init__(s, c):
            s.b = s.a * c

    return B(x, c=x).b + B(x).b


@programs(2.0)
def dc_fields(x):

    @dataclasses.dataclass
    class A:
        a: float
        l: list

    t = A(x, [x])
    d = dataclasses.asdict(t)
    return sum(getattr(t, f.name) for f in dataclasses.fields(t)[:1]) * d["l"][0]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    program.check()
