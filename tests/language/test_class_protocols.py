"""Protocols of classes that run code where one does not look for it, each with its gradient."""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, 1.2, 0.7])


class ClassProperty:
    def __init__(self, f: Any) -> None:
        self.f = f

    def __get__(self, o: Any, owner: Any) -> Any:
        return self.f(owner)


@programs(X)
def class_properties(x):
    class A:
        data = x

        @ClassProperty
        def total(cls):
            return cls.data @ cls.data

    return A.total * A().total


@programs(X)
def metaclasses(x):
    class Meta(type):
        @property
        def size(cls):
            return cls.v.sum() * cls.v[0]

        def __getattr__(cls, name):
            return cls.v[1] * len(name)

        def __getitem__(cls, i):
            return cls.v[i] * 3

        def __len__(cls):
            return 3

        def __iter__(cls):
            return (v * v for v in cls.v)

        def __contains__(cls, o):
            return True

        def __add__(cls, o):
            return cls.v[0] * o

    class A(metaclass=Meta):
        v = x

    return A.size * A.foo * A[2] + sum(A) * len(A) * (2 in A) + (A + x[1])


@programs(X)
def subscripted_classes(x):
    class A:
        def __class_getitem__(cls, i):
            return x[i] * 2

    return A[1] * A[0]


@programs(X)
def unpacked_mappings(x):
    class Table:
        def keys(self):
            return ["a", "b"]

        def __getitem__(self, key):
            return x[0] * x[1] if key == "a" else x[2]

    def g(a, b):
        return a * b

    d = {**Table(), "c": 1.0}
    return g(**Table()) + d["a"] * d["b"] ** 2


@programs(X)
def files_of_ones_own(x):
    class File:
        def __init__(self):
            self.written = np.zeros(3)

        def write(self, text):
            self.written += x * len(text)

        def flush(self):
            self.written *= x

    file = File()
    print("a", "bc", file=file, sep=", ", flush=True)
    print(file=file)
    return file.written.sum()


@programs(X)
def descriptors_read_on_the_class(x):
    class Named:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, o, owner):
            return getattr(o, self.name) * 2

        def __set__(self, o, v):
            setattr(o, self.name, v * x[0])

        def __delete__(self, o):
            setattr(o, self.name, getattr(o, self.name) ** 2)

    class A:
        d = Named()

        def __init__(self):
            self.d = x[1]

    a = A()
    del a.d
    return a.d


@programs(X)
def numbers_of_ones_own(x):
    class N:
        def __init__(self, v):
            self.v = v

        def __abs__(self):
            return np.abs(self.v).sum()

        def __round__(self, n=None):
            return self.v[0] * 2

        def __divmod__(self, o):
            return self.v[0] * o, self.v[1]

        def __rdivmod__(self, o):
            return self.v[1] * o, self.v[2]

        def __pow__(self, o, m=None):
            return self.v[0] ** o * (m or 1.0)

        def __float__(self):
            return float(self.v[2])

        def __index__(self):
            return 1

        def __trunc__(self):
            return self.v[0]

        def __floor__(self):
            return self.v[1]

        def __ceil__(self):
            return self.v[2]

        def __neg__(self):
            return -self.v

        def __invert__(self):
            return self.v * 2

    n = N(x)
    q, r = divmod(n, 3.0)
    p, s = divmod(2.0, n)
    total = abs(n) * round(n) + q * r + p * s + pow(n, 2) + pow(n, 3, 2.0) + float(n) * x[n]
    total += math.floor(n) * math.ceil(n) * math.trunc(n) + math.sin(n) * math.hypot(n, x[0])
    return total + (-n).sum() * (~n)[0] + complex(n).real


@programs(X)
def conversions_that_capture(x):
    class N:
        def __float__(self):
            return float(x[0] * x[1])

        def __array__(self, dtype=None, copy=None):
            return x * 2

    return np.sum(np.sin(N())) * math.exp(N()) * np.sum(x)


@programs(X)
def instance_checks(x):
    seen = np.zeros(3)

    class Meta(type):
        def __instancecheck__(cls, o):
            seen[:] = x * 2
            return True

        def __subclasscheck__(cls, o):
            seen[:] *= x
            return True

    class A(metaclass=Meta):
        pass

    return isinstance(3, (str, A)) * issubclass(int, A) * seen.sum()


@programs(X)
def attributes_of_modules(x):
    module = types.ModuleType("m")
    module.x = x

    def fallback(name):
        return module.x[0] * len(name)

    module.__getattr__ = fallback
    return module.foo * module.x[1]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
