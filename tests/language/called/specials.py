"""Special methods that change while they are used, and functions that bind names."""

from __future__ import annotations

from unittest import mock

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()


class Number:
    """Operators in Python, of which most answer with numbers."""

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Number(self.x + other.x) if type(other) is Number else NotImplemented

    def __radd__(self, other):
        return Number(other + 2.0 * self.x)

    def __mul__(self, other):
        return Number(self.x * (other.x if type(other) is Number else other))

    def __rmul__(self, other):
        return Number(3.0 * other * self.x)

    def __iadd__(self, other):
        if other == 7:
            return NotImplemented
        self.x = self.x + 1.0
        return self

    def __neg__(self):
        return Number(-self.x)

    def __lt__(self, other):
        return self.x < other.x if type(other) is Number else NotImplemented

    def __gt__(self, other):
        return True

    def __eq__(self, other):
        return type(other) is Number and self.x == other.x

    def __hash__(self):
        return 1

    def __getitem__(self, i):
        return self.x * i

    def __setitem__(self, i, v):
        self.x = self.x + i * v

    def __len__(self):
        return 3

    def __bool__(self):
        return bool(self.x > 0.0)

    def __contains__(self, v):
        return v > 2

    def __iter__(self):
        return iter([self.x, 2.0 * self.x])


class Longer(Number):
    def __add__(self, other):
        return Number(super().__add__(Number(other.x)).x if type(other) is Longer else other.x)

    def __radd__(self, other):
        return Number(100.0 * self.x)

    def __lt__(self, other):
        return False

    def __gt__(self, other):
        return False


@program
def all_operators(s):
    t = 0.0
    for k in iter(range(5)):
        a, b, c = Number(s), Number(2.0 * s), Longer(s)
        t = t + (a + b).x + (a + c).x + (c + c).x + (c + a).x + (2.0 + a).x + (3 + a).x
        t = t + (s + a).x + (a * b).x + (s * a).x + (a * s).x + (2.0 * a).x + (-a).x + (a * k).x
        a += b
        a += 7
        a[2] = s
        t = t + a.x + a[3] + len(a) + (1.0 if a else 2.0) + (1.0 if -b else 2.0)
        t = t + (1.0 if a < b else 2.0) + (1.0 if a == b else 2.0) + (1.0 if a != b else 2.0)
        t = t + (1.0 if a < c else 2.0) + (1.0 if a < 1 else 5.0) + (1.0 if 3 in a else 2.0)
        for v in a:
            t = t + v
    return t


@program
def numbers_on_the_left(s):
    a, t = Number(s), 0.0
    for k in iter([2, 2.0, np.float64(2.0), np.int64(3), True, s, 2.0 * s, np.float64(1.5) * s]):
        t = t + (k * a).x + (k + a).x + (a * k).x
    return t


@program
def not_known_to_either(s):
    class A:
        def __add__(self, other):
            return NotImplemented

        def __radd__(self, other):
            return NotImplemented

        def __lt__(self, other):
            return NotImplemented

    a, t = A(), s
    for _ in iter(range(4)):
        for f in (lambda: a + a, lambda: a + 1.0, lambda: 1.0 + a, lambda: s + a, lambda: a < a):
            try:
                f()
            except TypeError as error:
                t = t + len(str(error)) * s
    return t


def replacing(name, new, use):
    """Collect a program in which a special method is replaced, in sight and out of sight."""

    def f(s):
        class Own(Number):
            pass

        a, t = Own(s), 0.0
        for k in iter(range(6)):
            t = t + use(a, s)
            if k == 2:
                setattr(Own, name, new)
        return t

    def unseen(s):
        a, t = Number(s), 0.0
        for k in iter(range(6)):
            if k > 2:
                with mock.patch.object(Number, name, new):
                    t = t + use(a, s)
            else:
                t = t + use(a, s)
        return t

    f.__name__, unseen.__name__ = f"replaced{name}", f"patched{name}"
    program(f)
    program(unseen)


replacing("__add__", lambda self, other: Number(self.x * other.x), lambda a, s: (a + Number(s)).x)
replacing("__radd__", lambda self, other: Number(5.0 * self.x), lambda a, s: (1.0 + a).x)
replacing("__iadd__", lambda self, other: Number(5.0 * self.x), lambda a, s: in_place(a, s))
replacing("__neg__", lambda self: Number(5.0 * self.x), lambda a, s: (-a).x)
replacing("__lt__", lambda self, other: False, lambda a, s: s if a < Number(9.0) else 2.0 * s)
replacing("__eq__", lambda self, other: True, lambda a, s: s if a == 4 else 2.0 * s)
replacing("__getitem__", lambda self, i: i * self.x * s_of(self), lambda a, s: a[2] * s)
replacing("__len__", lambda self: 5, lambda a, s: len(a) * s)
replacing("__bool__", lambda self: False, lambda a, s: s if a else 2.0 * s)
replacing("__contains__", lambda self, v: False, lambda a, s: s if 3 in a else 2.0 * s)


def s_of(a):
    return a.x


def in_place(a, s):
    b = Number(s)
    b += a
    return b.x


@program
def missing_then_there(s):
    class Plain:
        def __init__(self, x):
            self.x = x

    a, t = Plain(s), 0.0
    for k in iter(range(6)):
        try:
            t = t + (a + a) + len(a)
        except TypeError:
            t = t + s
        if k == 2:
            Plain.__add__ = lambda self, other: self.x * other.x
            Plain.__len__ = lambda self: 4
    return t


@program
def lengths_that_are_none(s):
    class Odd:
        def __init__(self, n):
            self.n = n

        def __len__(self):
            return self.n

        def __bool__(self):
            return self.n

    t = s
    for n in iter([1, 2, -1, 2.5, True, "a", 3]):
        for f in (len, bool):
            try:
                t = t + f(Odd(n)) * s
            except (TypeError, ValueError) as error:
                t = t + len(str(error)) * s
        try:
            t = t + len(Odd(n)) * s + (1.0 if Odd(n) else 2.0)
        except (TypeError, ValueError) as error:
            t = t + len(str(error)) * s
    return t


class Base:
    def __init__(self, x):
        self.x = x

    def scaled(self, k):
        return self.x * k

    @classmethod
    def made(cls, x):
        return cls(x)

    @property
    def double(self):
        return 2.0 * self.x


class Middle(Base):
    def __init__(self, x):
        super().__init__(x)
        self.y = x * x

    def scaled(self, k):
        return super().scaled(k) + self.y

    @classmethod
    def made(cls, x):
        return super().made(2.0 * x)

    @property
    def double(self):
        return super().double + 1.0


class Last(Middle):
    def scaled(self, k):
        return 3.0 * super().scaled(k)


@program
def calls_of_super(s):
    t = 0.0
    for k in iter(range(6)):
        for cls in (Base, Middle, Last):
            o = cls.made(s)
            t = t + o.scaled(k) + o.double
    return t


@program
def super_is_patched(s):
    o, t = Last(s), 0.0
    for k in iter(range(6)):
        if k == 3:
            with mock.patch.object(Base, "scaled", lambda self, k: 100.0 * self.x):
                t = t + o.scaled(k)
        t = t + o.scaled(k)
    return t


@program
def attributes_of_classes(s):
    class Settings:
        factor = 2.0
        scaled = Base.scaled

    t, o = 0.0, Base(s)
    for k in iter(range(6)):
        t = t + Settings.factor * s + Settings.scaled(o, k)
        if k == 1:
            Settings.factor = s
        if k == 3:
            Settings.scaled = lambda o, k: o.x * 10.0
    return t


COUNT = 0.0


def counting(x, *, step=1.0):
    global COUNT
    COUNT = COUNT + step
    return x * COUNT


@program.changes
def global_is_bound(s):
    for _ in iter(range(4)):
        s = counting(s, step=0.5)
    return s


@program
def captured_is_bound(s):
    n, last = 0.0, None

    def f(x, *, k=1.0):
        nonlocal n, last
        n, last = n + k, x
        return x * n

    for _ in iter(range(4)):
        s = f(s, k=0.5)
    return s + n + last


@program
def captured_is_bound_in_a_method(s):
    n = 0.0

    class Counter:
        def step(self, x):
            nonlocal n
            n = n + x
            return x * n

    for _ in iter(range(4)):
        s = 0.5 * Counter().step(s)
    return s + n


def applied(f, x, n):
    for _ in range(n):
        x = f(x)
    return x


@program
def loops_that_call_a_parameter(s):
    class Twice:
        def __call__(self, x):
            return 2.0 * x

    for f in iter([lambda x: 0.5 * x, np.sin, Twice(), lambda x: x + s, applied_once]):
        s = applied(f, s, 3)
    return s


def applied_once(x):
    return 0.9 * x


class Count:
    def __init__(self, n, x):
        self.n, self.i, self.x = n, 0, x

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.x * self.i


@program
def own_iterators(s):
    t = 0.0
    for n in iter(range(4)):
        for v in Count(n, s):
            t = t + v
        a, b = Count(2, t)
        t = t + a * b + sum(Count(n, s))
    return t
