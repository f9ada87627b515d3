"""Tangents of loops that run as one entry."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hessian, hvp, jvp, value_and_grad
from mooncake_py.compiler.native.region_site import RegionSite, TangentSite
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.modes.forward.call import forward_context
from mooncake_py.modes.reverse.context import ReverseContext

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
V = np.array([1.0, 0.5, -2.0, 0.3, 0.9])


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each tangent that is tried, in order, whether it ran as one entry."""
    results: list[bool] = []
    push = RegionSite.push

    def noted(self: RegionSite, *args):
        result = push(self, *args)
        results.append(result is not Elsewhere)
        return result

    monkeypatch.setattr(RegionSite, "push", noted)
    return results


def recurrence(x, a):
    s = 0.0
    for i in range(1, len(x)):
        x[i] += a * np.sin(x[i - 1])
        s += x[i] * math.exp(-a)
    return s * x[-1]


def without_regions(derivative):
    """Return a derivative, taken operation by operation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReverseContext, "fuses", False)
        return derivative()


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize("a", [0.3, np.float64(0.3), 2])
@pytest.mark.parametrize(
    "derivative",
    [
        lambda x, a: jvp(recurrence, (x, a), (V, None)),
        lambda x, a: hvp(recurrence, (x, a), V),
        lambda x, a: hvp(lambda x: jvp(lambda x: recurrence(x, a), (x,), (V,))[1], (x,), V),
        lambda x, a: jvp(lambda x: jvp(lambda x: recurrence(x.copy(), a), (x,), (V,)), (x,), (V,)),
        lambda x, a: hessian(recurrence)(x, a),
    ],
)
def test_derivatives(derivative, a, ran):
    x = X.copy()
    found = derivative(x, a)
    assert_array_equal(x, X)
    assert ran
    assert all(ran)
    expected = without_regions(lambda: derivative(x, a))
    for p, q in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        assert_allclose(p, q, rtol=1e-12)


@pytest.mark.plain
def test_types_of_numbers_and_of_their_tangents(ran):
    def f(x, a, b):
        s = 0.0
        t = w = 0
        for i in range(len(x)):
            s += a * 2.0
            t += x[i] * b
            if x[i] > 100.0:
                w += x[i]
        return s, t, w

    args = (X, 0.5, np.float64(2.0))
    y, dy = jvp(f, args, (V, 1.0, np.float64(1.0)))
    assert ran == [True]
    assert y == f(*args)
    assert [type(v) for v in y] == [type(v) for v in f(*args)] == [float, np.float64, int]
    assert_allclose(dy[:2], (10.0, V.sum() * 2.0 + X.sum()), rtol=1e-14)
    assert [type(v) for v in dy[:2]] == [float, np.float64]


@pytest.mark.plain
@pytest.mark.without_modes("numbers divide by zero, which raises", "other")
def test_what_is_unusual_takes_the_general_way_and_puts_tangents_back(ran):
    def f(x):
        for i in range(len(x)):
            x[i] = x[i] * 2.0
            x[i] /= 3.0 - i  # no float of Python: inf, and a warning
        return x[0] + x[1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y, dy = jvp(f, (X,), (V,))
        assert ran == [False]
        assert (y, dy) == without_regions(lambda: jvp(f, (X,), (V,)))


@pytest.mark.plain
def test_a_tangent_that_is_not_finite_takes_the_general_way(ran):
    def f(x):
        s = 0.0
        for i in range(3):
            s += math.sqrt(x[i])
        return s

    x = np.array([1e-320, 1.0, 4.0])  # its slope overflows
    y, dy = jvp(f, (x,), (np.array([0.0, 1.0, 1.0]),))
    assert (y, dy) == (f(x), 0.75)
    huge = np.array([1e300, 1.0, 1.0])
    assert jvp(f, (x,), (huge,))[1] == math.inf
    assert grad(f)(x)[1] == 0.5


@pytest.mark.plain
def test_three_misses_in_a_row_are_enough_for_the_tangent(monkeypatch):
    attempts = []
    attempt = TangentSite.attempt
    monkeypatch.setattr(
        TangentSite, "attempt", lambda self, *args: attempts.append(1) or attempt(self, *args)
    )

    def f(x, n):
        s = 0.0
        try:
            for i in range(n):
                s += x[i] * x[i]
        except IndexError:
            s *= 2.0
        return s

    for n in (9, 9, 4, 9, 9, 9, 4):
        assert jvp(lambda x, n=n: f(x, n), (X,), (V,))[0] == f(X, n)
    assert len(attempts) == 6


@pytest.mark.plain
def test_tangents_leave_no_entries_where_nothing_is_active_below():
    ctx = forward_context(None, recurrence, (), {})
    x = X.copy()
    ctx.blocks.activate(x)[...] = V
    for _ in range(3):
        ctx.call(recurrence, x, 0.3)
    ((undo, target, *_),) = ctx.base.tape
    assert undo.__name__ == "undo_assign"
    assert target is x
    moved = ctx.blocks.tangent_of(x).copy()
    ctx.roll_back()
    assert_array_equal(x, X)
    assert_array_equal(ctx.blocks.tangent_of(x), moved)


@pytest.mark.plain
def test_an_array_becomes_active_and_views_of_it_too(ran):
    def f(x):
        b = np.zeros(6)
        tail = b[1:]
        before = b[::-1]
        for i in range(len(x)):
            tail[i] = x[i] * x[i]
            x[i] = before[i] * 2.0
        return np.sum(b * b) + np.sum(x * tail)

    assert_allclose(jvp(f, (X,), (V,))[1], grad(f)(X) @ V, rtol=1e-13)


@pytest.mark.plain
@pytest.mark.parametrize("a", [0.7, 0.8, np.float64(-1.2)])
def test_choices(a, ran):
    def f(x, a):
        s = 0
        for i in range(1, len(x)):
            s += abs(x[i]) * max(x[i - 1], a, 0) - min(x[i], x[i], a) ** 2
            x[i] = math.log(x[i]) if x[i] > 0.0 else x[i] * a
            s = s if s < 100.0 else 1.0
        return s * x[-1]

    x = X.copy()
    y, g = value_and_grad(f, (0, 1))(x, a)
    assert y == f(X.copy(), a)
    assert type(y) is type(f(X.copy(), a))
    expected = without_regions(lambda: value_and_grad(f, (0, 1))(x, a))[1]
    for p, q in zip(g, expected, strict=True):
        assert_allclose(p, q, rtol=1e-12)
    assert_allclose(jvp(f, (x, a), (V, 1.0))[1], g[0] @ V + g[1], rtol=1e-12)
    product = without_regions(lambda: hvp(f, (x, a), V))
    assert_allclose(hvp(f, (x, a), V), product, rtol=1e-12)
    assert ran.count(True) == 2


@pytest.mark.plain
def test_an_array_that_overlaps_itself_takes_the_general_way(ran):
    def f(x):
        windows = np.lib.stride_tricks.as_strided(x, (3, 3), (8, 8), writeable=True)
        s = 0.0
        for i in range(3):
            s += windows[i, 1] * windows[1, i]
        return s

    assert_allclose(jvp(f, (X,), (V,))[1], grad(f)(X) @ V, rtol=1e-13)
    assert ran == [False]


@pytest.mark.plain
def test_loops_over_constants_are_one_entry_without_a_record(taken):
    def f(x):
        table = np.zeros(5)
        for i in range(1, 5):
            table[i] = table[i - 1] * 0.5 + i
        return np.sum(x * table)

    value, g = value_and_grad(f)(X)
    assert taken == [True]
    assert value == f(X)
    assert_array_equal(g, [0.0, 1.0, 2.5, 4.25, 6.125])


def test_what_the_way_back_reads_may_be_overwritten_later():
    # It is read where the sweep runs: later writes must be undone before.
    def f(x, b):
        w = np.zeros(5)
        for i in range(5):
            w[i] = b[i] * 2.0
        s = 0.0
        for i in range(5):
            s += w[i] * x[i] * 1.0
            s += x[i] * b[i]
        for i in range(5):
            w[i] = 0.0
            b[i] = -1.0
        w[:] = 7.0
        b[:] = 8.0
        return s

    b = V.copy()
    assert_allclose(grad(f)(X, b), 3.0 * V, rtol=1e-15)
    assert_array_equal(b, V)
    assert_allclose(grad(lambda x: f(x, x * 1.0))(X), 6.0 * X, rtol=1e-15)
