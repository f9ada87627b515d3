"""increment, set_to_zero, scale, dot and add_to_primal against plain arithmetic."""

import copy
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents import (
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    Tangent,
    add_to_primal,
    difference,
    dot,
    increment,
    randn_tangent,
    scale,
    set_to_zero,
    zero_tangent,
)


def test_increment_values_and_identity():
    t = (1.0, [2.0, np.ones(2)], {"a": 1j}, MutableTangent(x=1.0), NoTangent())
    s = (10.0, [20.0, np.full(2, 10.0)], {"a": 10.0 + 0j}, MutableTangent(x=10.0), NoTangent())
    total = increment(t, s)
    expected = (11.0, [22.0, np.full(2, 11.0)], {"a": 10 + 1j}, MutableTangent(x=11.0), NoTangent())
    assert Tangent(t=total) == Tangent(t=expected)
    assert all(a is b for a, b in zip(total[1:], t[1:], strict=True))
    assert total[1][1] is t[1][1]


def test_increment_counts_shared_memory_once():
    x = np.arange(6.0)
    primal = (x, x[1:], [x], x[::-1])
    t, s = zero_tangent(primal), zero_tangent(primal)
    t[0][...], s[0][...] = 1.0, np.arange(6)
    increment(t, s)
    np.testing.assert_array_equal(t[0], 1 + np.arange(6))


def test_increment_counts_shared_objects_once():
    inner, other = [1.0], [10.0]
    t = increment((inner, inner), (other, other))
    assert t[0] is t[1] is inner
    assert inner == [11.0]


@pytest.mark.parametrize(
    "take", [lambda x: np.broadcast_to(x[:1], (4,)), lambda x: as_strided(x, (3, 2), (8, 8))]
)
def test_increment_of_self_overlapping_view_adds_once(take):
    t, s = zero_tangent(np.zeros(5)), zero_tangent(np.zeros(5))
    s[...] = 2.0
    view = as_strided(t, take(t).shape, take(t).strides)
    increment([view], [take(s)])
    assert set(view.ravel()) == {2.0}


def test_increment_with_itself_doubles():
    t = [1.0, np.ones(2)]
    increment(t, t)
    assert t[0] == 2.0
    np.testing.assert_array_equal(t[1], [2.0, 2.0])


def test_increment_keeps_dtype():
    t = np.ones(2, np.float32)
    increment([t], [np.ones(2)])
    assert t.dtype == np.float32
    with pytest.raises(InvalidTangentError, match=r"t\[0\]"):
        increment([t], [np.ones(2, complex)])


@pytest.mark.parametrize(
    ("t", "s"),
    [
        ([1.0], [1.0, 2.0]),
        ([1.0], (1.0,)),
        ([np.ones(2)], [np.ones(3)]),
        ([NoTangent()], [1.0]),
        (NoRData(), 1.0),
        ([1], [1]),
        (Tangent(x=1.0), Tangent(y=1.0)),
    ],
)
def test_increment_of_unlike_tangents_is_refused(t, s):
    with pytest.raises(InvalidTangentError):
        increment(t, s)


def test_nofdata_absorbs():
    assert increment(NoFData(), 3.0) is NoFData()
    assert increment((NoFData(), [1.0]), (3.0, [1.0])) == (NoFData(), [2.0])


def test_set_to_zero(value, rng):
    t = randn_tangent(rng, value)
    zero = set_to_zero(t)
    assert Tangent(t=zero) == Tangent(t=zero_tangent(value))
    if not isinstance(t, (tuple, Tangent, float, complex, np.inexact)):
        assert zero is t


def test_set_to_zero_clears_nan_and_sign():
    zero = set_to_zero((-1.0, float("nan"), np.float32("inf"), np.array([np.nan])))
    assert [str(z) for z in zero[:3]] == ["0.0", "0.0", "0.0"]
    assert zero[3][0] == 0.0


def test_scale_keeps_types_and_sharing():
    x = np.ones(4, np.float32)
    t = (x, x[1:], np.float32(2), 1j, [np.longdouble(3)])
    s = scale(np.float64(3.0), t)
    np.testing.assert_array_equal(s[0], np.full(4, 3, np.float32), strict=True)
    assert np.shares_memory(s[0], s[1])
    assert not np.shares_memory(s[0], x)
    assert (type(s[2]), s[2]) == (np.float32, 6)
    assert s[3] == 3j
    assert type(s[4][0]) is np.longdouble
    cyclic = [1.0]
    cyclic.append(cyclic)  # pyright: ignore[reportArgumentType]
    twice = scale(2.0, cyclic)
    assert twice[0] == 2.0
    assert twice[1] is twice


def test_dot_is_the_real_inner_product(rng):
    a, b = (rng.standard_normal(3) + 1j * rng.standard_normal(3) for _ in range(2))
    assert dot(a, b) == pytest.approx(np.vdot(a, b).real, rel=1e-14)
    assert dot((2.0, [3.0, 1 + 2j]), (5.0, [7.0, 3 + 4j])) == 10 + 21 + 3 + 8
    assert dot(NoTangent(), NoTangent()) == 0.0
    assert type(dot(np.float32(2), np.float32(3))) is float


def test_dot_counts_each_cell_once():
    x = np.arange(1.0, 7.0)
    square = float(x @ x)
    assert dot((x, x[1:], x[::-1], x[None], [x]), (x, x[1:], x[::-1], x[None], [x])) == square
    wide = np.broadcast_to(x, (4, 6))
    assert dot(wide, wide) == square
    windows = as_strided(x, (3, 4), (8, 8))
    assert dot(windows, windows) == square
    same = [2.0]
    assert dot((same, same), (same, same)) == 4.0
    assert dot((2.0, 2.0), (2.0, 2.0)) == 8.0


def test_dot_of_complex_and_its_parts_counts_once():
    c: Any = np.array([1 + 2j, 3 + 4j])
    assert dot((c, c.real, c.imag), (c, c.real, c.imag)) == 30.0
    assert dot((c.real, c), (c.real, c)) == 30.0


def test_dot_sums_half_precision_in_double():
    x = np.full(5000, 1.001, np.float32)
    assert dot(x, x) == pytest.approx(float(x[0]) ** 2 * 5000, rel=1e-12)


def test_add_to_primal_is_the_sum():
    p = {"a": (1.0, 2), "b": [np.ones(2, np.float32)], "c": np.float32(1)}
    t = {"a": (0.5, NoTangent()), "b": [np.full(2, 2, np.float32)], "c": np.float32(2)}
    moved = add_to_primal(p, t)
    assert moved["a"] == (1.5, 2)
    np.testing.assert_array_equal(moved["b"][0], np.full(2, 3, np.float32), strict=True)
    assert (type(moved["c"]), moved["c"]) == (np.float32, 3)
    assert p["b"][0][0] == 1


def test_add_to_primal_keeps_sharing():
    x = np.arange(4.0)
    p = (x, x[1:], [x.reshape(2, 2).T])
    t = zero_tangent(p)
    t[0][...] = 10.0
    y, tail, [matrix] = add_to_primal(p, t)
    np.testing.assert_array_equal(y, x + 10)
    y[1] = -1.0
    assert tail[0] == matrix[1, 0] == -1.0
    assert x[1] == 1.0


def test_a_tuple_that_is_there_twice_moves_in_each_place():
    p = ((1.0, 2),) * 2
    moved = add_to_primal(p, ((0.5, NoTangent()), (0.25, NoTangent())))
    assert moved == ((1.5, 2), (1.25, 2))
    assert difference(p, moved) == ((-0.5, NoTangent()), (-0.25, NoTangent()))


def test_add_to_primal_copies_constants_that_can_be_written():
    p = ([1, 2], np.arange(3), {1}, bytearray(2))
    q = add_to_primal(p, zero_tangent(p))
    q[0][0], q[1][0], q[3][0] = 9, 9, 9
    q[2].add(5)
    assert p[0] == [1, 2]
    assert p[1][0] == 0
    assert p[2] == {1}
    assert p[3] == bytearray(2)


def test_add_to_primal_moves_captured_variables():
    def make(b):
        def f(x, y=1.0, *, z=2.0):
            return b * x + y + z

        f.tag = "kept"  # pyright: ignore[reportFunctionMemberAccess]
        return f

    f = make(3.0)
    g = add_to_primal(f, MutableTangent(b=MutableTangent(cell_contents=1.0)))
    assert (f(10.0), g(10.0)) == (33.0, 43.0)
    assert (g.__name__, g.__qualname__, g.tag) == (f.__name__, f.__qualname__, "kept")
    assert not hasattr(g, "__wrapped__")


def test_add_to_primal_moves_objects_without_init(value, rng):
    before = copy.copy(value)
    moved = add_to_primal(value, zero_tangent(value))
    assert type(moved) is type(value) is type(before)


@pytest.mark.parametrize(
    ("p", "t"), [(1.0, "a"), ([1.0], [1.0, 2.0]), (np.ones(2), np.ones(3)), ((1.0,), 1.0)]
)
def test_add_to_primal_refuses_what_is_no_tangent_of_it(p, t):
    with pytest.raises(InvalidTangentError, match="not its tangent"):
        add_to_primal(p, t)
