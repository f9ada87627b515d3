"""Operators of classes, dataclasses and named tuples."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import InitVar, dataclass, field
from dataclasses import replace as mp_replace

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()


class V:
    def __init__(self, x):
        self.x = x

    def __add__(self, o):
        if not isinstance(o, V):
            return NotImplemented
        return V(self.x + o.x)

    def __mul__(self, o):
        if isinstance(o, V):
            return V(self.x * o.x)
        return V(self.x * o)

    def __rmul__(self, o):
        return V(o * self.x)

    def __neg__(self):
        return V(-self.x)

    def __iadd__(self, o):
        self.x = self.x + o.x
        return self

    def __eq__(self, o):
        return self.x == o.x

    def __lt__(self, o):
        return self.x < o.x

    def __hash__(self):
        return 1

    def __getitem__(self, i):
        return self.x * i

    def __len__(self):
        return 3

    def __bool__(self):
        return True


class U(V):
    def __radd__(self, o):
        return U(o.x * 100.0 if isinstance(o, V) else o)

    def __add__(self, o):
        return U(self.x + o.x + 1.0)


@program
def operators(s):
    a, b = V(s), U(s * 2.0)
    t = 0.0
    for i in iter(range(3)):
        t = (
            t
            + (a + a).x
            + (a + b).x
            + (b + a).x
            + (2.0 * a).x
            + (a * 3.0).x
            + (a * s).x
            + (s * a).x
            + (-a).x
            + a[2]
            + len(a)
        )
        a += b
        if a == b or a < b:
            t = t + 1.0
    return t


@program
def operator_not_implemented(s):
    a = V(s)
    t = 0.0
    for i in iter(range(3)):
        try:
            t = t + (a + 1.0).x
        except TypeError as e:
            t = t + len(str(e)) * s
    return t


@program
def operator_not_implemented2(s):
    a = V(s)
    for i in iter(range(3)):
        a + a
    return a + 3.0


@program
def operator_changed(s):
    class W:
        def __init__(self, x):
            self.x = x

        def __add__(self, o):
            return W(self.x + o.x)

    a = W(s)
    t = 0.0
    for i in iter(range(4)):
        t = t + (a + a).x
        if i == 1:
            W.__add__ = lambda self, o: W(self.x * o.x)
        if i == 2:
            del W.__add__
            W.__add__ = lambda self, o: NotImplemented
            W.__radd__ = lambda self, o: W(self.x * 9.0)
        if i == 2:
            break
    return t


@program
def operator_numpy(s):
    class V:
        def __init__(self, x):
            self.x = x

        def __mul__(self, o):
            return V(self.x * o)

        def __rmul__(self, o):
            return V(o * self.x)

    a = V(s)
    t = 0.0
    for k in iter([np.float64(2.0), 2, 2.0, np.int64(3)]):
        t = t + (a * k).x + (k * a).x
    return t


@dataclass
class D1:
    x: float
    y: float = 2.0
    z: list = field(default_factory=list)

    def __post_init__(self):
        self.z.append(self.x)


@dataclass(frozen=True)
class D2:
    x: float
    y: float = 3.0

    def area(self):
        return self.x * self.y


@dataclass
class D3(D1):
    w: float = 1.0
    k: InitVar[float] = 2.0

    def __post_init__(self, k):
        super().__post_init__()
        self.w = self.w * k


@dataclass(slots=True)
class D4:
    x: float
    y: float = 4.0


@dataclass(kw_only=True)
class D5:
    x: float
    y: float = 4.0


@dataclass
class D6:
    x: float
    c: int = field(default=3, init=False)

    def __setattr__(self, n, v):
        object.__setattr__(self, n, v * 2.0)


@program
def dataclasses_(s):
    t = 0.0
    for i in iter(range(3)):
        a = D1(s)
        b = D2(s, y=s)
        c = D3(s, 1.0, [s], 2.0, k=s)
        d = D4(s)
        e = D5(x=s, y=2.0)
        f = D6(s)
        t = t + a.x * a.y + a.z[0] + b.area() + c.w + sum(c.z) + d.x * d.y + e.x * e.y + f.x * f.c
        a.x = t
        t = t + a.x
        t = t + mp_replace(b, x=t).x
    return t


@program
def dataclass_missing(s):
    D1()
    return s


@program
def dataclass_many(s):
    D4(s, s, s)
    return s


@program
def dataclass_unknown(s):
    D4(s, q=s)
    return s


@program
def frozen_write(s):
    b = D2(s)
    b.x = 1.0
    return s


P = namedtuple("P", "x y", defaults=(2.0,))


class Q(P):
    __slots__ = ()

    def __new__(cls, x, y):
        return super().__new__(cls, x * 2.0, y)


class R(P):
    @classmethod
    def _make(cls, it):
        return tuple.__new__(cls, [v * 2.0 for v in it])


class R2(P):
    def __init__(self, *a):
        self.extra = 1.0


@program
def namedtuples(s):
    t = 0.0
    for i in iter(range(3)):
        p = P(s)
        q = Q(s, y=s)
        r = R(s, s)
        w = R2(s, s)
        p = p._replace(y=p.x * 2.0)
        q = q._replace(x=t + s)
        r = r._replace(x=s)
        w = w._replace(y=s * 3.0)
        t = t + p.x * p.y + q.x * q.y + r.x * r.y + w.y
    return t


@program
def replace_unknown(s):
    p = P(s)
    p._replace(zz=s)
    return s


@program
def namedtuple_missing(s):
    P()
    return s
