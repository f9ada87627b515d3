"""Classes and their instances that are changed while they are used."""

from __future__ import annotations

import types
from unittest import mock

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()


def g(x):
    return x * 2.0


def g2(x):
    return x * 3.0


class C:
    def __init__(self, x):
        self.x = x

    def step(self, s):
        return self.x * s

    def other(self, s):
        return self.x + s

    @property
    def p(self):
        return self.x * 2.0


def method_change(change, restore=("step",)):
    def f(s):
        class C:
            def __init__(self, x):
                self.x = x

            def step(self, s):
                return self.x * s

            def other(self, s):
                return self.x + s

        c = C(s * 1.5)
        for i in iter(range(4)):
            s = c.step(s)
            if i == 1:
                change(C, c)
        return s

    f.__name__ = "method_" + change.__name__
    PROGRAMS.append(f)

    def f2(s):
        c = C2(s * 1.5)
        for i in iter(range(4)):
            s = c.step(s)
            if i == 1:
                change(C2, c)
        return s

    f2.__name__ = "method_global_" + change.__name__
    program.changes(f2)


class C2:
    def __init__(self, x):
        self.x = x

    def step(self, s):
        return self.x * s

    def other(self, s):
        return self.x + s


def replaced(C, c):
    C.step = lambda self, s: s * 5.0


def by_other(C, c):
    C.step = C.other


def by_static(C, c):
    C.step = staticmethod(lambda s: s * 6.0)


def by_class(C, c):
    C.step = classmethod(lambda cls, s: s * 6.0)


def by_property(C, c):
    C.step = property(lambda self: lambda s: s * self.x * 8.0)


def on_instance(C, c):
    c.step = lambda s: s * 9.0


def on_instance_bound(C, c):
    c.step = c.other


def in_dict(C, c):
    c.__dict__["step"] = lambda s: s * 9.0


def getattribute(C, c):
    C.__getattribute__ = lambda self, n: (
        (lambda s: s * 11.0) if n == "step" else object.__getattribute__(self, n)
    )


def getattr_(C, c):
    C.__getattr__ = lambda self, n: 1.0


def deleted(C, c):
    del C.step


def class_of(C, c):
    class D(C):
        def step(self, s):
            return s * 12.0

    c.__class__ = D


for ch in (
    replaced,
    by_other,
    by_static,
    by_class,
    by_property,
    on_instance,
    on_instance_bound,
    in_dict,
    getattribute,
    getattr_,
    deleted,
    class_of,
):
    method_change(ch)


@program
def init_changed(s):
    class A:
        def __init__(self, x):
            self.x = x

    t = 0.0
    for i in iter(range(4)):
        t = t + A(s).x
        if i == 1:

            def init(self, x):
                self.x = x * 10.0

            A.__init__ = init
    return t


@program
def new_added(s):
    class A:
        def __init__(self, x):
            self.x = x

    t = 0.0
    for i in iter(range(4)):
        t = t + A(s).x
        if i == 1:

            def new(cls, x):
                o = object.__new__(cls)
                o.y = x
                return o

            A.__new__ = new
    return t


@program
def init_deleted(s):
    class B:
        def __init__(self, x):
            self.x = x * 3.0

    class A(B):
        def __init__(self, x):
            self.x = x

    t = 0.0
    for i in iter(range(4)):
        t = t + A(s).x
        if i == 1:
            del A.__init__
    return t


class Meta(type):
    def __call__(cls, x):
        o = super().__call__(x)
        o.x = o.x * 2.0
        return o


class WithMeta(metaclass=Meta):
    def __init__(self, x):
        self.x = x


@program
def metaclass(s):
    t = 0.0
    for i in iter(range(3)):
        t = t + WithMeta(s).x
    return t


class Meta2(type):
    pass


class WithMeta2(metaclass=Meta2):
    def __init__(self, x):
        self.x = x


@program
def metaclass_changed(s):
    t = 0.0
    for i in iter(range(4)):
        t = t + WithMeta2(s).x
        if i == 1:

            def call(cls, x):
                o = type.__call__(cls, x)
                o.x = o.x * 2.0
                return o

            Meta2.__call__ = call
    del Meta2.__call__
    return t


class Single:
    one = None

    def __new__(cls, x):
        if cls.one is None:
            cls.one = object.__new__(cls)
        return cls.one

    def __init__(self, x):
        self.x = x


@program.changes
def singleton(s):
    a = Single(s)
    b = Single(s * 2.0)
    return a.x + b.x


class Other:
    def __new__(cls, x):
        return x * 3.0


@program
def new_of_other_type(s):
    return Other(s) + Other(s)


class Returns:
    def __init__(self, x):
        return 1


@program
def init_returns(s):
    Returns(s)
    return s


@program
def init_wrong_count(s):
    C(s, s)
    return s


@program
def init_no_args(s):
    C()
    return s


class Empty:
    pass


@program
def empty_with_args(s):
    Empty(s)
    return s


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x):
        self.x = x
        self.y = x * 2.0


@program
def slots(s):
    t = 0.0
    for i in iter(range(3)):
        o = Slots(s)
        o.x = o.x + t
        t = t + o.x * o.y
    return t


@program
def slots_missing(s):
    o = Slots(s)
    o.z = 1.0
    return s


class Desc:
    def __get__(self, o, t):
        return 1.0 if o is None else o.__dict__.get("d", 1.0) * 2.0

    def __set__(self, o, v):
        o.__dict__["d"] = v * 3.0


class WithDesc:
    d = Desc()

    def __init__(self, x):
        self.d = x


@program
def descriptors(s):
    t = 0.0
    for i in iter(range(3)):
        o = WithDesc(s)
        t = t + o.d
        o.d = t
    return t + o.d


class SetAttr:
    def __init__(self, x):
        self.x = x

    def __setattr__(self, n, v):
        object.__setattr__(self, n, v * 2.0)


@program
def custom_setattr(s):
    t = 0.0
    for i in iter(range(3)):
        t = t + SetAttr(s).x
    return t


@program
def setattr_added(s):
    class A:
        def __init__(self, x):
            self.x = x

    t = 0.0
    for i in iter(range(4)):
        a = A(s)
        a.x = s
        t = t + a.x
        if i == 1:

            def sa(self, n, v):
                object.__setattr__(self, n, v * 2.0)

            A.__setattr__ = sa
    return t


@program
def attribute_becomes_property(s):
    class A:
        def __init__(self, x):
            self.x = x

    a = A(s)
    t = 0.0
    for i in iter(range(4)):
        t = t + a.x
        if i == 1:
            A.x = property(lambda self: self.__dict__["x"] * 10.0)
    return t


@program
def property_changes(s):
    class A:
        def __init__(self, x):
            self.q = x

        @property
        def x(self):
            return self.q

    a = A(s)
    t = 0.0
    for i in iter(range(4)):
        t = t + a.x
        if i == 1:
            A.x = property(lambda self: self.q * 10.0)
        if i == 2:
            A.x = 5.0
    return t


@program
def property_raises(s):
    class A:
        @property
        def x(self):
            raise AttributeError("no x")

        def __getattr__(self, n):
            return 3.0

    a = A()
    t = s
    for i in iter(range(3)):
        t = t * a.x
    return t


@program
def property_setter(s):
    class A:
        def __init__(self, x):
            self.x = x

        @property
        def x(self):
            return self.q * 2.0

        @x.setter
        def x(self, v):
            self.q = v * 3.0

    t = 0.0
    for i in iter(range(3)):
        a = A(s)
        a.x = a.x + t
        t = t + a.x
    return t


@program
def mock_patched(s):
    c = C(s)
    t = 0.0
    for i in iter(range(4)):
        if i == 2:
            with mock.patch.object(C, "step", lambda self, s: s * 100.0):
                t = t + c.step(s)
        t = t + c.step(s)
    return t


@program
def mixed_receivers(s):
    class A:
        def f(self, x):
            return x * 2.0

    class B(A):
        def f(self, x):
            return super().f(x) + 1.0

    class D:
        f = staticmethod(lambda x: x * 5.0)

    t = s
    for o in iter([A(), B(), D(), A(), types.SimpleNamespace(f=lambda x: x * 0.5), B()]):
        t = o.f(t)
    return t


@program
def held_functions(s):
    o = types.SimpleNamespace(f=g)

    class A:
        def __init__(self, f):
            self.f = f

    a = A(g)
    t = s
    for i in iter(range(4)):
        t = a.f(t) + o.f(t)
        if i == 1:
            a.f = g2
        if i == 2:
            a.f = lambda x: x * 0.1
            o.f = np.sin
    return t


@program
def classmethods(s):
    class A:
        k = 2.0

        def __init__(self, x):
            self.x = x

        @classmethod
        def make(cls, x):
            return cls(x * cls.k)

        @staticmethod
        def twice(x):
            return x * 2.0

    class B(A):
        k = 5.0

    t = 0.0
    for i in iter(range(3)):
        t = t + A.make(s).x + B.make(s).x + A(s).make(s).x + A.twice(s) + B(s).twice(s)
        A.k = A.k + 1.0
    return t


@program
def inherited_init(s):
    class A:
        def __init__(self, x):
            self.x = x

    class B(A):
        def __init__(self, x, y):
            super().__init__(x)
            self.y = y

    class D(B):
        pass

    t = 0.0
    for i in iter(range(3)):
        d = D(s, s * 2.0)
        t = t + d.x * d.y
    return t


@program
def partial_init(s):
    class A:
        def __init__(self, x):
            self.x = x
            self.x = self.x * 2.0
            self.y = self.x + 1.0
            del self.x
            self.x = self.y

    t = 0.0
    for i in iter(range(3)):
        t = t + A(s).x
    return t
