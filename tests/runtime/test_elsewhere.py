"""Arrays in the memory of other arrays, which their bases do not say."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, from_vjp, grad, hvp, jacobian, jvp, value_and_grad
from mooncake_py.errors import DerivativeDropError
from mooncake_py.runtime.elsewhere import PartlySharedError, owner_among


class Wrapped:
    def __init__(self, a: Any) -> None:
        self.a = a
        self.__array_interface__ = a.__array_interface__


def by_ctypes(a: Any) -> Any:
    return np.ctypeslib.as_array(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), (a.size,))


def by_interface(a: Any) -> Any:
    return np.asarray(Wrapped(a))


VIEWS = {
    "dlpack": np.from_dlpack,
    "ctypes": by_ctypes,
    "interface": by_interface,
    "buffer": lambda a: np.frombuffer(memoryview(a)),
    "part": lambda a: np.from_dlpack(a[:2]),
    "view": lambda a: np.from_dlpack(a)[:2],
}


def along_several_directions(f: Any) -> Any:
    value, g = value_and_grad(lambda v: f(v[0]) + 0.0 * v[1], mode="forward")(np.array([3.0, 1.0]))
    return value, g[0]


WAYS = {
    "grad": lambda f: value_and_grad(f)(3.0),
    "debug": lambda f: value_and_grad(f, debug=True)(3.0),
    "jvp": lambda f: jvp(f, (3.0,), (1.0,)),
    "checkpoint": lambda f: value_and_grad(lambda x: checkpoint(f, x))(3.0),
    "several directions": along_several_directions,
}
OF_UNKNOWN = {"dlpack", "part", "view"}


def written_first(a: Any, v: Any) -> Any:
    def f(x):
        a[0] = x
        return v[0] * x

    return f


def read_before(a: Any, v: Any) -> Any:
    def f(x):
        before = v[0] * x
        a[0] = x
        return v[0] * x + np.sum(v) - x - np.sum(a[1 : v.size]) + before * 0.0

    return f


def of_a_loop(a: Any, v: Any) -> Any:
    def f(x):
        total = 0.0
        for k in range(v.size):
            a[k] = x if k == 0 else a[k]
            total = total + v[k] * x * (k == 0)
        return total

    return f


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize("program", [written_first, read_before, of_a_loop])
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_written_through_the_owner_is_read(view, program):
    for way in WAYS.values():
        a = np.ones(3)
        assert way(program(a, VIEWS[view](a))) == (9.0, 6.0)
        assert list(a) == [1.0, 1.0, 1.0]


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_written_through_the_other_is_read_or_refused(view):
    for way in WAYS.values():
        a = np.ones(3)
        v = VIEWS[view](a)
        if not v.flags.writeable:
            continue
        if view in OF_UNKNOWN:
            with pytest.raises(DerivativeDropError, match="whose owner is not known"):
                way(written_first(v, a))
        else:
            assert way(written_first(v, a)) == (9.0, 6.0)
        assert list(a) == [1.0, 1.0, 1.0]


def test_the_owner_may_be_known_by_then():
    a = np.ones(3)
    v = np.from_dlpack(a)

    def f(x):
        a[1] = x
        v[0] = x * a[1]
        return a[0] * x

    assert grad(f)(3.0) == 27.0
    assert list(a) == [1.0, 1.0, 1.0]


def in_a_capsule(a: Any) -> Any:
    """Return the cubes of an array in memory that no array owns, as compiled code may."""
    return np.from_dlpack(a**3)


@from_vjp(in_a_capsule)
def in_a_capsule_rule(a: Any) -> Any:
    return in_a_capsule(a), lambda dy: 3 * a**2 * dy


def test_results_in_memory_of_a_capsule_have_tangents():
    def f(x):
        y = in_a_capsule(x)
        y[0] = y[1] * x[0]
        return y

    x = np.array([0.5, 2.0, -1.5])
    expected = np.diag(3 * x**2)
    expected[0] = [x[1] ** 3, 3 * x[1] ** 2 * x[0], 0.0]
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(jacobian(f, mode=mode)(x), expected)
    for k, e in enumerate(np.eye(3)):
        np.testing.assert_allclose(jvp(f, (x,), (e,))[1], expected[:, k])
    np.testing.assert_allclose(hvp(lambda x: np.sum(in_a_capsule(x)), (x,), x), 6 * x**2)


def test_of_two_arrays_that_overlap_neither_is_the_owner():
    a = np.ones(4)
    first, second = by_ctypes(a[:3]), by_ctypes(a[1:])
    with pytest.raises(PartlySharedError):
        owner_among(first, [second])
    assert owner_among(first, [a]) is a
    assert owner_among(first, [np.ones(3)]) is None


BEHIND = np.linspace(0.2, 0.8, 4)


class Interface:
    """Gives the memory of a global array as its own."""

    @property
    def __array_interface__(self) -> Any:
        return BEHIND.__array_interface__


IN_FRONT = np.asarray(Interface())


@pytest.mark.parametrize("reads", ["owner", "view"])
def test_memory_of_a_global_array_that_a_class_gives_away(reads: str) -> None:
    def f(x: Any) -> Any:
        written, read = (IN_FRONT, BEHIND) if reads == "owner" else (BEHIND, IN_FRONT)
        written[1:] += x
        return np.sum(read**2)

    before = BEHIND.copy()
    slope = 2 * np.sum(before[1:] + 0.3)
    np.testing.assert_allclose(grad(f)(0.3), slope)
    np.testing.assert_allclose(jvp(f, (0.3,), (1.0,))[1], slope)
    np.testing.assert_array_equal(BEHIND, before)


def test_a_root_of_a_constant_may_be_written():
    linalg = pytest.importorskip("scipy.linalg")  # SciPy 1.17 returns memory of a capsule

    def f(x):
        y = linalg.sqrtm(np.diag([4.0, 9.0]))
        y[0, 0] = x
        y[1] *= x
        return np.sum(y**2)

    for way in WAYS.values():
        value, slope = way(f)
        np.testing.assert_allclose([value, slope], [90.0, 60.0])
