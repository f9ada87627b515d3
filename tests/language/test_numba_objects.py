"""Objects of Numba's: refused by name where they matter, read where they are constants."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import MissingRuleError, NonDifferentiableArgumentError

numba = pytest.importorskip("numba")
from numba import njit  # noqa: E402
from numba.experimental import jitclass, structref  # noqa: E402
from numba.extending import intrinsic, overload, register_jitable  # noqa: E402

X = np.array([1.0, -2.0, 3.0])


def refused(f, *args):
    with pytest.raises(MissingRuleError) as caught:
        grad(f)(*args)
    return str(caught.value)


# What compiled code has in place of Python.


def twice(x):
    return 2 * x


@overload(twice)
def overloaded_twice(x):
    return lambda x: 3 * x


@register_jitable
def thrice(x):
    return 3 * x


@intrinsic
def same(context, x):
    return x(x), lambda context, builder, signature, args: args[0]


@numba.cfunc("f8(f8)")
def callback(x):
    return 2 * x


@numba.stencil
def neighbours(a):
    return a[1] + a[-1]


@njit
def with_overload(x):
    return twice(x)


@njit
def with_jitable(x):
    return thrice(x)


@njit
def with_intrinsic(x):
    return same(x)


@njit
def with_callback(x):
    return callback(x)


@njit
def with_objmode(x):
    with numba.objmode(y="int64"):
        y = 2.6 * x
    return y  # noqa: RET504


@njit
def with_unrolled(x):
    s = 0.0
    for k in numba.literal_unroll((1, 2.5)):
        s += numba.float64(k) * x
    return s


def test_functions_for_compiled_code():
    assert "another twice, by numba.extending.overload" in refused(with_overload, 2.0)
    assert "an intrinsic of Numba's" in refused(with_intrinsic, 2.0)
    assert "a C callback of Numba's" in refused(with_callback, 2.0)
    assert "objmode runs Python in it" in refused(with_objmode, 2.0)
    assert "a stencil of Numba's" in refused(lambda x: np.sum(neighbours(x)), X)
    assert grad(with_jitable)(2.0) == 3.0
    assert grad(with_unrolled)(2.0) == 3.5


def test_overloads_within_loops():
    def loop(x):
        s = 0.0
        for i in range(3):
            s += with_overload(x[i])
        return s

    assert "numba.extending.overload" in refused(loop, X)


# Typed containers.


@njit
def in_list(x):
    numbers = numba.typed.List()
    numbers.append(x)
    return numbers[0]


@njit
def in_dict(x):
    numbers = numba.typed.Dict()
    numbers[1] = x
    return numbers[1]


@njit
def in_plain_list(x):
    numbers = [x]
    numbers.append(x * x)
    return numbers[0] * numbers[1]


def test_containers_made_within():
    assert "a typed container of Numba's" in refused(in_list, 2.0)
    assert "use a list or a dict" in refused(in_dict, 2.0)
    assert grad(in_plain_list)(2.0) == 12.0


@pytest.mark.slow
def test_constant_containers():
    numbers = numba.typed.List([1.0, 2.0])
    assert grad(lambda x, n: n[1] * x * len(n))(2.0, numbers) == 4.0
    assert "typed container" in refused(lambda x, n: n.append(1.0), 2.0, numbers)
    assert len(numbers) == 2
    with pytest.raises(NonDifferentiableArgumentError, match="a List without floats"):
        grad(lambda n: n[0])(numbers)
    arrays = numba.typed.List([X])
    assert "typed container" in refused(lambda x, n: n[0][0] * x, 2.0, arrays)


# Structures.


@structref.register
class PointType(numba.core.types.StructRef):
    pass


class Point(structref.StructRefProxy):
    def __new__(cls, x):
        return structref.StructRefProxy.__new__(cls, x)

    @property
    def x(self):
        return x_of(self)


@njit
def x_of(point):
    return point.x


structref.define_proxy(Point, PointType, ["x"])


@pytest.mark.slow
def test_structures():
    point = Point(2.0)
    assert "a structure of Numba's" in refused(lambda x: Point(x).x, 2.0)
    assert "use a named tuple" in refused(lambda x: x * point.x, 2.0)
    assert "a structure of Numba's" in refused(lambda x: x * x_of(point), 2.0)


# Jitted classes.


@jitclass([("k", numba.float64), ("a", numba.float64[:])])
class Spring:
    def __init__(self, k):
        self.k = k
        self.a = np.zeros(2)

    def energy(self, x):
        return self.k * x * x


@njit
def potential(spring, x):
    return 0.5 * spring.k * x * x


def assigned(x, spring):
    spring.k = x
    return spring.k * 2


def test_classes():
    assert "an object of a jitted class" in refused(lambda x: Spring(x).k, 2.0)


@pytest.mark.slow
def test_instances():
    spring = Spring(3.0)
    assert grad(potential, 1)(spring, 2.0) == 6.0
    assert "leave the decorator jitclass out" in refused(assigned, 2.0, spring)
    assert "jitted class" in refused(lambda x: spring.energy(x), 2.0)
    assert "jitted class" in refused(lambda x: spring.a[0] * x, 2.0)
    with pytest.raises(NonDifferentiableArgumentError, match="a Spring without floats"):
        grad(potential)(spring, 2.0)
    assert spring.k == 3.0
