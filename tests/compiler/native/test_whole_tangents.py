"""Derivatives along directions, and products with Hessians, of functions compiled whole."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import (
    InvalidTangentError,
    SharedArgumentsError,
    grad,
    hvp,
    jvp,
    local_rules,
    value_and_hvp,
)
from mooncake_py.compiler.native.spares import Spares
from mooncake_py.modes.forward import whole
from tests.compiler.native.test_site import active
from tests.compiler.native.whole_functions import FUNCTIONS

pytestmark = pytest.mark.plain

U = np.array([0.3, -0.8, 0.5])
V = np.array([1.0, -0.5, 2.0])


@pytest.fixture
def ways(tried, monkeypatch):
    """Which calls went without contexts, in order; regions run as plain Python."""
    found: list[bool] = []

    def watched(run):
        def noted(*args, **options):
            y = run(*args, **options)
            found.append(y is not None)
            return y

        return noted

    for name in ("push_whole", "products_of_whole"):
        monkeypatch.setattr(whole, name, watched(getattr(whole, name)))
    return found


def smoothed(u, c):
    for i in range(1, len(u)):
        u[i] = c * u[i] + 0.3 * u[i - 1] * u[i - 1]
    return u[len(u) - 1] * c


def field(u, c):
    y = c * u * u
    u[0] = y[1]
    return y, u, c * u[0], (y,)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_ways_agree(name, tried, monkeypatch):
    f, args = FUNCTIONS[name]
    tangents: list = [None] * len(args)
    for k in active(args):
        tangents[k] = np.cos(args[k]) if np.ndim(args[k]) else 0.7
    given = copy.deepcopy(args)
    y, dy = jvp(f, given, tuple(tangents), compile=True)
    assert tried == [True]
    for a, b in zip(given, args, strict=True):
        assert_array_equal(a, b)
    argnums = active(args)
    v = tuple(tangents[k] for k in argnums)
    value, gradients, products = value_and_hvp(f, given, v, argnums, compile=True)
    again = hvp(f, given, v, argnums, compile=True)
    monkeypatch.setattr(whole, "push_whole", lambda *_, **__: None)
    monkeypatch.setattr(whole, "products_of_whole", lambda *_, **__: None)
    y0, dy0 = jvp(f, given, tuple(tangents), compile=True)
    assert (type(y), type(dy)) == (type(y0), type(dy0))
    assert_allclose((y, dy), (y0, dy0), rtol=1e-14, atol=1e-15)
    value0, gradients0, products0 = value_and_hvp(f, given, v, argnums, compile=True)
    assert type(value) is type(value0)
    assert_allclose(value, value0, rtol=1e-14)
    for a, b in zip(
        (*gradients, *products, *again), (*gradients0, *products0, *products0), strict=True
    ):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def test_outputs_are_memory_of_their_own(ways):
    u, v = U.copy(), V.copy()
    (y, x, s, (again,)), (dy, dx, ds, (dagain,)) = jvp(field, (u, 0.5), (v, 2.0), compile=True)
    expected = jvp(field, (u, 0.5), (v, 2.0), compile=False)
    assert ways == [True]
    for got, other in zip(((y, x, s), (dy, dx, ds)), expected, strict=True):
        for a, b in zip(got, other[:3], strict=True):
            assert type(a) is type(b)
            assert_allclose(a, b, rtol=1e-14)
    assert y is again
    assert dy is dagain
    assert_array_equal(u, U)
    assert_array_equal(v, V)
    for a in (y, x, dy, dx):
        assert not np.may_share_memory(a, u)
        assert not np.may_share_memory(a, v)


def test_an_argument_that_is_given_back(ways):
    def f(u, w):
        w[0] = 2.0 * u[0]
        return u, w

    (y, w), (dy, dw) = jvp(f, (U, U.copy()), (V, None), compile=True)
    assert ways == [True]
    assert_array_equal(y, U)
    assert_array_equal(dy, V)
    assert y is not U
    assert dy is not V
    assert_array_equal(dw, [2.0 * V[0], 0.0, 0.0])
    assert_array_equal(w, [2.0 * U[0], *U[1:]])


def test_the_primal_as_its_own_direction(ways):
    expected = jvp(smoothed, (U, 0.7), (U, None), compile=False)
    u = U.copy()
    assert_allclose(jvp(smoothed, (u, 0.7), (u, None), compile=True), expected, rtol=1e-14)
    assert_array_equal(u, U)
    assert_allclose(
        hvp(smoothed, (u, 0.7), u, compile=True), hvp(smoothed, (U, 0.7), U), rtol=1e-13
    )


@pytest.mark.parametrize("argnums", [0, 1, "u", "c", (1, 0), (0, -1)])
def test_chosen_arguments(argnums, ways):
    parts = {0: V, "u": V, 1: 0.5, -1: 0.5, "c": 0.5}
    v = tuple(parts[k] for k in argnums) if type(argnums) is tuple else parts[argnums]
    found = value_and_hvp(smoothed, (U, 0.7), v, argnums, compile=True)
    expected = value_and_hvp(smoothed, (U, 0.7), v, argnums, compile=False)
    assert ways == [True]
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b)
        for c, d in zip(*((x if type(x) is tuple else (x,)) for x in (a, b)), strict=True):
            assert type(c) is type(d)
            assert_allclose(c, d, rtol=1e-12)


def test_directions_that_are_not_like_their_primal(ways):
    for t in (1, np.float32(1.0), np.float64(2.0)):
        expected = jvp(smoothed, (U, 0.7), (None, t), compile=False)
        assert_allclose(jvp(smoothed, (U, 0.7), (None, t), compile=True), expected, rtol=1e-6)
    whole_numbers = np.array([1, 2, 3])
    assert_allclose(
        jvp(smoothed, (U, 0.7), (whole_numbers, None), compile=True),
        jvp(smoothed, (U, 0.7), (whole_numbers, None), compile=False),
    )
    for t in (V[:2], 1.0, [1.0, 2.0, 3.0, 4.0]):
        with pytest.raises(InvalidTangentError):
            jvp(smoothed, (U, 0.7), (t, None), compile=True)
        with pytest.raises(InvalidTangentError):
            hvp(smoothed, (U, 0.7), t, compile=True)


@pytest.mark.parametrize(("x", "t"), [(0.7, np.float64(0.5)), (np.float64(0.7), 0.5)])
def test_gradients_have_the_types_of_arguments_not_of_directions(x, t, ways):
    found = value_and_hvp(smoothed, (U, x), t, 1, compile=True)
    expected = value_and_hvp(smoothed, (U, x), t, 1, compile=False)
    assert ways == [True]
    assert list(map(type, found)) == list(map(type, expected))
    assert_allclose(found, expected, rtol=1e-12)


def test_what_is_unusual_goes_the_general_way(ways):
    def quotient(u):
        return u[0] / u[1]

    def shape(u):
        return len(u)

    zero = np.array([1.0, 0.0])
    with np.errstate(all="ignore"):
        y, dy = jvp(quotient, (zero,), (np.ones(2),), compile=True)
        y0, dy0 = jvp(quotient, (zero,), (np.ones(2),), compile=False)
    assert_array_equal((y, dy), (y0, dy0))
    assert jvp(shape, (U,), (V,), compile=True)[0] == 3
    with local_rules():
        jvp(smoothed, (U, 0.7), (V, None), compile=True)
    assert ways == [False] * 3

    def outer(u):
        return jvp(smoothed, (u, 0.7), (V, None))[1]

    assert_allclose(grad(outer, compile=True)(U), hvp(smoothed, (U, 0.7), V), rtol=1e-12)
    assert ways == [False] * 3


def test_what_is_written_and_not_finite_goes_the_general_way(ways):
    def scaled(u):
        u /= np.array([1.0, 0.0])
        return u[0]

    for compile in (False, True):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            jvp(scaled, (np.array([1.0, 2.0]),), (np.ones(2),), compile=compile)
    assert ways == [False]


def test_arguments_that_share_memory(ways):
    def writes(a, b):
        a[0] = b[1]
        return a[0] * b[0]

    for derivative in (
        lambda: jvp(writes, (U, U), (V, V), compile=True),
        lambda: hvp(writes, (U, U), (V, V), (0, 1), compile=True),
    ):
        with pytest.raises(SharedArgumentsError):
            derivative()
    _, dy = jvp(lambda a, b: np.sum(a * b), (U, U), (V, None), compile=True)
    assert dy == pytest.approx(U @ V)
    assert ways == [False, False, True]


def test_later_calls_leave_results_alone(ways):
    u, v = U.copy(), V.copy()
    kept = jvp(field, (u, 0.5), (v, 2.0), compile=True)
    before = copy.deepcopy(kept)
    jvp(field, (2.0 * u, 0.7), (3.0 * v, 1.0), compile=True)
    assert ways == [True, True]
    for found, expected in zip(kept, before, strict=True):
        for a, b in zip(found[:3], expected[:3], strict=True):
            assert_array_equal(a, b)


def test_copies_of_arguments_are_used_again(tried, monkeypatch):
    made: list[int] = []
    copied = Spares.copied

    def noted(self, purpose, a):
        copy = copied(self, purpose, a)
        made.append(id(copy))
        return copy

    monkeypatch.setattr(Spares, "copied", noted)
    for _ in range(2):
        jvp(smoothed, (U, 0.7), (V, None), compile=True)
    assert tried == [True, True]
    assert made[:2] == made[2:]


def test_arguments_without_a_direction_that_get_one(ways):
    def spread(u, w, z):
        w[:] = u
        z[:] = 1j * u
        z *= z
        return np.sum(w * z.real)

    given = U, np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0j, 3.0])
    w = np.zeros((3, 2))[:, 0]
    for args in (given, (U, w, given[2])):
        found = jvp(spread, args, (V, None, None), compile=True)
        assert_allclose(found, jvp(spread, args, (V, None, None), compile=False), rtol=1e-13)
    assert ways == [True, True]


def test_types_of_arguments_that_change(ways):
    def product(u, w, c):
        return np.sum(u * w * c)

    def square(c):
        return c * c

    w = np.abs(U)
    for c in (2.0, 3, np.float64(2.5), np.float32(1.5)):
        for u in (w, w.astype(np.float32), w[:1], np.array([w]), w):
            given, v = (u, w.astype(u.dtype), c), np.ones_like(u)
            (y, dy), other = (
                jvp(product, given, (v, None, None), compile=by) for by in (True, False)
            )
            assert (type(y), type(dy)) == tuple(map(type, other))
            assert_allclose((y, dy), other, rtol=1e-6)
            assert ways.pop() is True
    for c in (1 << 40, True):  # is not compiled, or is a constant
        found = jvp(product, (w, w, c), (w, None, None), compile=True)
        assert_allclose(found, jvp(product, (w, w, c), (w, None, None), compile=False))
    for c in (2.0, np.float64(2.0), np.float32(2.0), 2.0):
        y, dy = jvp(square, (c,), (c,), compile=True)
        assert (type(y), type(dy)) == (type(c),) * 2


def test_indices_in_another_order_than_in_the_call_before(ways):
    def spread(u, p):
        y = np.zeros(4)
        y[p] = u
        return np.sum(y[1:] * u)

    p = np.array([3, 1, 3])
    for q, is_compiled in ((p, True), (p[::-1], False), (p, True)):
        found = jvp(spread, (U, q), (V, None), compile=True)
        assert_allclose(found, jvp(spread, (U, q), (V, None), compile=False), rtol=1e-14)
        assert ways.pop() is is_compiled


def test_results_in_lists(ways):
    def parts(u):
        y = 2.0 * u
        return [y, (u[0] * u[1], [y])]

    y, dy = jvp(parts, (U,), (V,), compile=True)
    y0, dy0 = jvp(parts, (U,), (V,), compile=False)
    assert ways == [True]
    for a, b in ((y, y0), (dy, dy0)):
        assert type(a) is list
        assert type(a[1]) is tuple
        assert type(a[1][1]) is list
        for first, second in ((a[0], b[0]), (a[1][0], b[1][0]), (a[1][1][0], b[1][1][0])):
            assert_allclose(first, second, rtol=1e-14)
