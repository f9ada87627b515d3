"""Functions, closures and classes that are defined inside; see `programs`.

What is unusual about their style is the point of them.
"""
# fmt: off
# ruff: noqa: B007, C408, E501, E731
# ruff: noqa: UP050
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportOptionalMemberAccess=false
# pyright: reportArgumentType=false, reportUndefinedVariable=false, reportUnboundVariable=false

from __future__ import annotations

import functools
from dataclasses import dataclass

from tests.frontend.cases import case


@case(5)
def closures(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        return total

    scale = lambda x, s=n * 2: x * s + total
    for i in range(n):
        add(i)
    return total, scale(3), [f(1) for f in (lambda x: x + n, lambda x: x - n)], add.__qualname__


@case(4)
def nonlocal_counter_is_no_static_int(n):
    def make_text():
        nonlocal k
        k = "text"

    for k in range(n):
        pass
    make_text()
    return k + "!"


@case(6)
def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


@case(6)
def recursion_of_nested(n):
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n)


@case("abc")
def starred_calls(s):
    def f(*args, **kwargs):
        return args, sorted(kwargs.items())

    pairs = dict(k=1)
    return f(*s, 0, *range(2), z=3, **pairs), [*s, *s], {*s} == set(s), {**pairs, "j": 2}, (*s, 1)


@case(1, 2)
def signature(a, b=5, /, c=6, *rest, d=7, e: int = 8, **more) -> int:
    """Document, and survive rewriting."""
    return a, b, c, rest, d, e, more


class Base:
    def __init__(self, x):
        self.__x = x
        self._Other__y = 1

    def value(self, k=1):
        return self.__x * k

    @property
    def double(self):
        return 2 * self.__x

    @double.setter
    def double(self, v):
        self.__x = v / 2

    @classmethod
    def make(cls, x):
        return cls(x)

    @staticmethod
    def helper(__private, **kw):
        return __private, kw


class _Derived(Base):
    def __init__(self, x):
        super().__init__(x)
        self.__x = "own"
        self.__x += "!"

    def value(self, k=2):
        def inner():
            return super(_Derived, self).value(3), __class__.__name__

        return super().value(k) + 1, inner(), self.__x, [self.__x for _ in range(2)]

    def remove(self):
        del self.__x
        __local = 3
        return sorted(vars(self)), __local, self.helper(1, __k=2), super().double


@case(4)
def classes(x):
    o = _Derived.make(x)
    out = [o.value(), o.double]
    o.double = 10
    o.double += 2
    return out, o.value(5), o.remove(), Base.value(o)


@case(3)
def class_body(n):
    base = Base
    holder = type("Holder", (), {"_Local__secret": 5})

    @functools.total_ordering
    class Local(base, metaclass=type):
        __private = n * 2
        size: int = n + 1
        table = [i * 2 for i in range(3)]
        a = b = size - 1
        (first, second), third = table[:2], table[2]
        for index in range(2):
            index + 1
        secret = holder.__secret

        def __init__(self, v=n):
            super().__init__(v)
            self.v = v + self.__private

        def __eq__(self, other):
            return self.v == other.v

        def __lt__(self, other):
            return self.v < other.v

        class Inner:
            x = n * 7

    names = sorted(k for k in vars(Local) if not k.startswith("__"))
    return Local() <= Local(5), Local().v, Local.Inner.x, names, Local.__qualname__


@case(3)
def decorated(n):
    def twice(f):
        @functools.wraps(f)
        def wrapper(*args):
            return 2 * f(*args)

        return wrapper

    def plus(k):
        return lambda f: lambda *args: f(*args) + k

    @twice
    @plus(n + 1)
    def inner(x, y=n * n):
        return x + y

    return inner(1), inner(1, 2)


@case(3)
def function_attributes(n):
    def f(a, *, b=n + 1):
        "Doc."
        return a

    f.cache = {}
    f.cache["k"] = n
    return f.__doc__, f.__kwdefaults__, f.cache, f.__name__, f.__qualname__, f.__defaults__


@case([3, 1, 2])
def callbacks(v):
    return sorted(v, key=lambda t: -t), list(map(lambda a, b: a * b, v, v)), functools.reduce(lambda a, b: a - b, v)


@dataclass
class Point:
    x: float
    y: float = 1.0

    def shifted(self, by):
        return Point(self.x + by, y=self.y - by)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __iadd__(self, other):
        self.x += other.x
        return self


@case(Point(1.0))
def special_methods(p):
    q = p
    q += p.shifted(2)
    p.x -= 0.5
    return p + q, p is q


@case(3)
def conditional_definitions(n):
    if n > 2:
        def f(x): return x + 1
    else:
        f = None
    assert f is not None, "no f"
    return f(n) if f else ..., (lambda: (yield))
