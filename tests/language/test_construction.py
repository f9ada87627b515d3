"""How instances come to be: what `__new__` returns, which `__init__` runs, compiled classes."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import ctypes
import enum
import functools
import io
from collections import OrderedDict, defaultdict, deque
from typing import Any, Generic, NamedTuple, NewType, TypeVar

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad, jvp
from tests.support.directions import check_jvp, check_second
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.7, -1.3])


class Made:
    def __new__(cls, v: Any) -> Any:
        return object.__new__(MadeInstead)

    def __init__(self, v: Any) -> None:
        self.v = v


class MadeInstead(Made):
    def __init__(self, v: Any) -> None:
        self.v = 2.0 * v


T = TypeVar("T")
Length = NewType("Length", float)


class Squared(Generic[T]):
    def __init__(self, value: Any) -> None:
        self.value = value * value


@programs(X)
def by_aliases_of_types(x):
    first = list[float](x)[0] * dict[str, float](a=x[1])["a"] * tuple[float, ...](x)[1]
    counted = defaultdict[str, float](lambda: x[0])
    second = counted["a"] * deque[float](x)[1] * OrderedDict[str, float](a=x[0])["a"]
    return first + second * Squared[float](x[0]).value * Length(x[1])


@programs(X)
def init_of_what_new_made(x):
    return Made(x[0]).v * x[1]


class WithoutInit:
    def __new__(cls, v: Any) -> Any:
        return object.__new__(WithInit)


class WithInit(WithoutInit):
    def __init__(self, v: Any) -> None:
        self.v = v * v


@programs(X)
def init_of_a_subclass_only(x):
    return WithoutInit(x[0]).v * x[1]


class Stranger:
    def __new__(cls, v: Any) -> Any:
        return [v, v * 2]

    def __init__(self, v: Any) -> None:
        raise AssertionError("not an instance")


@programs(X)
def new_returns_something_else(x):
    return Stranger(x[0])[1] * x[1]


class Holder:
    def __init__(self, v: Any) -> None:
        self.v = v


@programs(X)
def init_is_a_bound_method(x):
    holder = Holder(x[1])

    class Other:
        __init__ = holder.__init__

    Other(x[0] * 2)
    return holder.v * x[1]


@programs(X)
def init_is_an_object(x):
    seen = []

    class Init:
        def __call__(self, v):
            seen.append(v * 2)

    class Other:
        __init__ = Init()

    Other(x[0])
    return seen[0] * x[1]


@programs(X)
def init_is_static_or_of_the_class(x):
    seen = []

    class Static:
        @staticmethod
        def __init__(v):
            seen.append(v * 3)

    class OfClass:
        @classmethod
        def __init__(cls, v):
            cls.v = v * x[1]

    Static(x[0])
    return OfClass(seen[0]).v


@programs(X)
def new_is_partial(x):
    def make(factor, cls, v):
        made = object.__new__(cls)
        made.v = factor * v
        return made

    class Other:
        __new__ = staticmethod(functools.partial(make, x[1]))

    return Other(x[0]).v


class NoResult:
    def __init__(self, v: Any) -> Any:
        return v


@programs(X)
def init_returns_something(x):
    try:
        NoResult(x[0])
    except TypeError as error:
        return x[1] * ("should return None" in str(error))


class Triple(Exception):
    def __new__(cls, v: Any) -> Any:
        return super().__new__(cls, v * 3)


@programs(X)
def new_of_an_exception(x):
    try:
        raise Triple(x[0])
    except Triple as error:
        return error.args[0] * x[1]


class Sized(tuple):
    def __init__(self, v: Any) -> None:
        self.n = len(v)


@programs(X)
def tuple_of_the_elements_of_an_array(x):
    t = Sized(x)
    return t[0] * t[1] * t.n


class Pair(NamedTuple):
    a: Any
    b: Any


class Doubled(Pair):
    def __new__(cls, a: Any, b: Any) -> Any:
        return super().__new__(cls, 2 * a, b)

    def __init__(self, a: Any, b: Any) -> None:
        self.c = a * b


@programs(X)
def new_and_init_of_a_named_tuple(x):
    d = Doubled(x[0], x[1])
    return d.a * d.c + d._replace(a=x[1]).b


@programs(X)
def class_of_a_number(x):
    return x[0].__class__(x[1]) * float(x[0]).__class__(x[1])


@programs(X)
def class_of_an_array(x):
    a = x.__class__(2)
    a[:] = x * x
    return a[0] * a[1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_construction(program: Program) -> None:
    program.check()
    check_jvp(program.f, *program.args)


@pytest.mark.parametrize("program", programs[:2], ids=str)
def test_second_derivatives_of_construction(program: Program) -> None:
    check_second(program.f, *program.args)


# Compiled code that would read numbers instead of keeping references.


def hull(x: Any) -> Any:
    spatial = pytest.importorskip("scipy.spatial")
    return spatial.ConvexHull(np.array([[0.0, 0.0], [1.0, 0.0], [x[0], x[1]]])).volume


class Buffer(io.BytesIO):
    def __init__(self, a: Any) -> None:
        super().__init__(a)


def buffer(x: Any) -> Any:
    return np.frombuffer(Buffer(x * 2.0).getvalue())[0]


class Timer(float):
    def __init__(self, v: Any) -> None:
        self.v = v


def subclass_of_float(x: Any) -> Any:
    return Timer(x[0]) * x[1]


def array_of_c(x: Any) -> Any:
    c = (ctypes.c_double * 2)()
    c[0:2] = x
    return c[0] * x[1]


@pytest.mark.parametrize("f", [hull, buffer, subclass_of_float, array_of_c])
def test_compiled_code_that_reads_numbers_is_refused(f: Any) -> None:
    for derivative in (grad(f), lambda x: jvp(f, (x,), (X,))):
        with pytest.raises(MissingRuleError):
            derivative(X)


def test_compiled_classes_take_constants() -> None:
    spatial = pytest.importorskip("scipy.spatial")
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    def f(x):
        return spatial.ConvexHull(corners).volume * x[0]

    np.testing.assert_array_equal(grad(f)(X), [0.5, 0.0])


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2
    RUN = 4


def test_combinations_of_flags_are_not_left_behind() -> None:
    before = dict(Access._value2member_map_)

    def f(x):
        return x * 2 if Access.READ in Access(3) and Access(6) else x

    assert grad(f)(1.0) == 2.0
    assert grad(f, debug=True)(1.0) == 2.0
    assert dict(Access._value2member_map_) == before
