"""Pullbacks of functions compiled whole."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import (
    InvalidTangentError,
    NestedDerivativeError,
    NoTangent,
    SharedArgumentsError,
    debug_mode,
    grad,
    vjp,
)
from mooncake_py.modes.reverse import whole_pullback
from tests.compiler.native.whole_functions import FUNCTIONS

pytestmark = pytest.mark.plain

U = np.array([0.3, -0.8, 0.5])
G = np.array([1.0, -2.0, 0.5])


@pytest.fixture
def ways(tried, monkeypatch):
    """Which calls went without a tape, in order; regions run as plain Python."""
    found: list[bool] = []
    run = whole_pullback.vjp_of_whole

    def noted(*args):
        y = run(*args)
        found.append(y is not None)
        return y

    monkeypatch.setattr(whole_pullback, "vjp_of_whole", noted)
    return found


def field(u, c):
    y = c * u * u
    u[0] = y[1]
    return y, (u, c * u[0]), y


def squares(u, c):
    return c * u * u


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pullbacks_agree_with_those_by_tape(name, tried):
    f, args = FUNCTIONS[name]
    given = copy.deepcopy(args)
    y, pullback = vjp(f, *given, compile=True)
    y0, pullback0 = vjp(f, *copy.deepcopy(args), compile=False)
    assert type(y) is type(y0)
    for a in given:
        if isinstance(a, np.ndarray):
            a[...] = 0  # the pullback has its own
    for factor in (1.0, 0.0, -2.5):
        for a, b in zip(pullback(factor), pullback0(factor), strict=True):
            assert type(a) is type(b)
            if type(b) is not NoTangent:
                assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert all(tried)


def test_outputs_of_any_structure(ways):
    cotangents = (G, (2.0 * G, 3.0), G)
    u = U.copy()
    y, pullback = vjp(field, u, 0.7, compile=True)
    y0, pullback0 = vjp(field, U.copy(), 0.7, compile=False)
    assert ways == [True]
    assert_array_equal(u, U)
    assert y[0] is y[2]
    for a, b in ((y[0], y0[0]), (y[1][0], y0[1][0]), (y[1][1], y0[1][1])):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-14)
    y[0][...] = y[1][0][...] = 77.0
    expected = pullback0(cotangents)
    for _ in range(2):
        for a, b in zip(pullback(cotangents), expected, strict=True):
            assert type(a) is type(b)
            assert_allclose(a, b, rtol=1e-13)


def in_lists(u, c):
    y = c * u
    return [y, (u, [c * u[0], y])]


@pytest.mark.parametrize(
    ("cotangent", "fits"),
    [
        ([G, (2.0 * G, [3.0, G])], True),
        ((G, (2.0 * G, [3.0, G])), False),
        ([G, [2.0 * G, [3.0, G]]], False),
    ],
)
def test_outputs_in_lists(cotangent, fits, ways, monkeypatch):
    y, pullback = vjp(in_lists, U, 0.7, compile=True)
    y0, pullback0 = vjp(in_lists, U, 0.7, compile=False)
    assert ways == [True]
    assert type(y) is list
    assert type(y[1]) is tuple
    assert type(y[1][1]) is list
    assert_allclose(y[1][1][0], y0[1][1][0])
    assert y[0] is y[1][1][1]
    by_tape: list[bool] = []
    run = whole_pullback.WholePullback.by_tape

    def noted(self, cotangent):
        by_tape.append(True)
        return run(self, cotangent)

    monkeypatch.setattr(whole_pullback.WholePullback, "by_tape", noted)
    for a, b in zip(pullback(cotangent), pullback0(cotangent), strict=True):
        assert_allclose(a, b, rtol=1e-14)
    assert by_tape == [True] * (not fits)


def test_gradients_are_memory_of_the_caller(ways):
    _, pullback = vjp(squares, U, 0.5, compile=True)
    first, _ = pullback(G)
    kept = first.copy()
    second, _ = pullback(2.0 * G)
    assert_array_equal(first, kept)
    assert_allclose(second, 2.0 * kept)
    assert not np.may_share_memory(first, G)


def test_arguments_without_a_derivative(ways):
    def f(u, n, table, name, nothing):
        s = 0.0
        for k in range(n):
            s += u[table[k]] * u[0]
        return s

    g, *others = vjp(f, U, 2, np.array([2, 1]), "a", None, compile=True)[1](1.0)
    assert ways == [True]
    assert_allclose(g, vjp(f, U, 2, np.array([2, 1]), "a", None)[1](1.0)[0])
    assert [type(t) for t in others] == [NoTangent] * 4


def test_arguments_of_other_kinds_go_the_general_way(ways):
    def f(u, g):
        return u[0] * g(u[1])

    scale = 3.0
    gu, gg = vjp(f, U, lambda x: scale * x, compile=True)[1](1.0)
    hu, hg = vjp(f, U, lambda x: scale * x, compile=False)[1](1.0)
    assert_allclose(gu, hu)
    assert type(gg) is type(hg)
    vjp(lambda p: p["a"], {"a": 1.0}, compile=True)
    assert ways == [False, False]


@pytest.mark.parametrize("cotangent", [1, np.array(2.0), np.float32(0.5), None, np.ones(3, int)])
def test_other_cotangents_are_those_of_the_general_way(cotangent, ways):
    f = squares if np.ndim(cotangent) else lambda u: u[0] * u[1]
    args = (U, 0.5) if np.ndim(cotangent) else (U,)
    pullback, pullback0 = (vjp(f, *args, compile=how)[1] for how in (True, False))
    assert ways == [True]
    try:
        expected = pullback0(cotangent)
    except InvalidTangentError as error:
        with pytest.raises(InvalidTangentError, match=str(error).splitlines()[0][:30]):
            pullback(cotangent)
        return
    for a, b in zip(pullback(cotangent), expected, strict=True):
        assert_allclose(a, b, rtol=1e-7)


@pytest.mark.parametrize("cotangent", [G[:2], 1.0, (G,), "a"])
def test_wrong_cotangents(cotangent, ways):
    _, pullback = vjp(squares, U, 0.5, compile=True)
    with pytest.raises((InvalidTangentError, TypeError)):
        pullback(cotangent)
    assert_allclose(pullback(G)[0], U * G)


SCALE = 2.0
TABLE = np.array([1.0, 2.0, 3.0])


def of_globals(u):
    return SCALE * np.sum(u * TABLE)


def test_globals_are_those_of_the_call(ways, monkeypatch):
    _, pullback = vjp(of_globals, U, compile=True)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    before = TABLE.copy()
    TABLE[0] = 9.0
    try:
        for _ in range(2):
            assert_allclose(pullback(1.0)[0], 2.0 * before)
        with pytest.raises(NestedDerivativeError, match="another result"):
            pullback(1)  # left to a run of the function
    finally:
        TABLE[...] = before


def test_pullbacks_inside_other_derivatives(ways):
    _, pullback = vjp(squares, U, 0.5, compile=True)

    def of_cotangent(g):
        return np.sum(pullback(g)[0] ** 2)

    assert_allclose(grad(of_cotangent)(G), 2.0 * U * U * G)

    def whole(u):
        _, inner = vjp(squares, u, 0.5)
        return np.sum(inner(G)[0] ** 2)

    assert_allclose(grad(whole, compile=True)(U), 2.0 * U * G * G)
    assert ways == [True]


def test_memory_that_arguments_share(ways):
    def writes(a, b):
        a[0] = b[1]
        return a[0] * b[0]

    with pytest.raises(SharedArgumentsError):
        vjp(writes, U, U, compile=True)
    ga, gb = vjp(lambda a, b: np.sum(a * a * b), U, U, compile=True)[1](1.0)
    assert_allclose(ga, 2.0 * U * U)
    assert_allclose(gb, U * U)


def test_debug_mode_and_results_that_are_not_finite(ways):
    with debug_mode():
        vjp(squares, U, 0.5, compile=True)
    assert ways == []
    with np.errstate(all="ignore"):
        y, pullback = vjp(squares, np.array([np.inf, 1.0]), 0.5, compile=True)
        assert_array_equal(y, [np.inf, 0.5])
        assert_array_equal(pullback(np.ones(2))[0], [np.inf, 1.0])
    assert ways == [False]


def test_several_threads(ways):
    _, pullback = vjp(field, U, 0.7, compile=True)
    expected = pullback((G, (G, 1.0), G))

    def work(_):
        return [pullback((G, (G, 1.0), G)) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, range(4)):
            for gradients in found:
                assert_array_equal(gradients[0], expected[0])
                assert gradients[1] == expected[1]
