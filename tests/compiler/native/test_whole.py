"""Gradients of functions that are compiled whole, without a tape."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import SharedArgumentsError, grad, local_rules, progress, value_and_grad, vjp
from mooncake_py.compiler.native import region_site, site
from mooncake_py.modes.reverse import whole
from mooncake_py.runtime import limits
from tests.compiler.native.test_site import active
from tests.compiler.native.whole_functions import FUNCTIONS

pytestmark = pytest.mark.plain


@pytest.fixture
def ways(tried, monkeypatch):
    """Which calls went without a tape, in order; regions run as plain Python."""
    found: list[bool] = []
    gradient = whole.gradient_of_whole

    def noted(*args):
        y = gradient(*args)
        found.append(y is not None)
        return y

    monkeypatch.setattr(whole, "gradient_of_whole", noted)
    return found


def smoothed(u, c):
    for i in range(1, len(u)):
        u[i] = c * u[i] + 0.3 * u[i - 1] * u[i - 1]
    return u[len(u) - 1]


def energy(u, k):
    total = 0.0
    for i in range(len(u)):
        total += k * u[i] * u[i]
    return total


U = np.array([0.3, -0.8, 0.5])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_way_without_a_tape_gives_what_the_general_one_gives(name, tried, monkeypatch):
    f, args = FUNCTIONS[name]
    argnums = active(args)
    given = copy.deepcopy(args)
    value, g = value_and_grad(f, argnums, compile=True)(*given)
    monkeypatch.setattr(whole, "gradient_of_whole", lambda *_: None)
    expected, h = value_and_grad(f, argnums, compile=True)(*copy.deepcopy(args))
    assert tried == [True, True]
    assert type(value) is type(expected)
    assert value == expected
    for a, b in zip(g, h, strict=True):
        assert type(a) is type(b)
        assert_array_equal(a, b)
    for a, b in zip(given, args, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("argnums", [0, 1, -1, "u", "c", (1, 0), ("u", "c"), (0, "u"), (0, 0)])
def test_chosen_arguments(argnums, ways):
    expected = value_and_grad(smoothed, argnums, compile=False)(U, 0.7)
    for args, kwargs in (((U, 0.7), {}), ((U,), {"c": 0.7})):
        if kwargs and argnums == -1:
            continue
        found = value_and_grad(smoothed, argnums, compile=True)(*args, **kwargs)
        assert_allclose(found[0], expected[0], rtol=1e-14)
        one, other = (x[1] if type(x[1]) is tuple else (x[1],) for x in (found, expected))
        for a, b in zip(one, other, strict=True):
            assert type(a) is type(b)
            assert_allclose(a, b, rtol=1e-13)
    assert all(ways)


def test_gradients_are_memory_of_the_caller(ways):
    u = U.copy()
    first = grad(smoothed, compile=True)(u, 0.7)
    kept = first.copy()
    second = grad(smoothed, compile=True)(2 * u, 0.7)
    assert ways == [True, True]
    assert_array_equal(first, kept)
    assert not np.may_share_memory(first, second)
    assert_array_equal(u, U)


def test_memory_of_other_calls_does_not_shine_through(ways):
    large = np.linspace(0.1, 0.9, 40)
    for u in (large, U, large, U, large[:17]):
        expected = grad(smoothed, compile=False)(u, 0.7)
        assert_allclose(grad(smoothed, compile=True)(u, 0.7), expected, rtol=1e-13)
    assert all(ways)


def test_auxiliary_outputs_are_copies_of_what_was_there_at_the_end(ways):
    def f(u, c):
        y = u * c
        v = smoothed(u, c)
        return v, (u, y, c, (None, "text", u))

    u = U.copy()
    (value, aux), g = value_and_grad(f, has_aux=True, compile=True)(u, 0.7)
    (value0, aux0), g0 = value_and_grad(f, has_aux=True, compile=False)(u, 0.7)
    assert ways == [True]
    assert_allclose((value, *g), (value0, *g0), rtol=1e-13)
    for a, b in zip(aux[:3], aux0[:3], strict=True):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-14)
    assert aux[3][:2] == (None, "text")
    assert aux[0] is aux[3][2]
    assert not np.may_share_memory(aux[0], u)
    assert_array_equal(u, U)


def test_functions_among_auxiliary_outputs_go_the_general_way(ways):
    (_, f), _ = value_and_grad(lambda u: (u[0], energy), has_aux=True, compile=True)(U)
    assert f is energy
    assert ways == [False]


TABLE = np.array([1.0, 2.0, 4.0])


def test_globals_that_are_written_are_left_as_they_were(ways):
    def f(u):
        for i in range(3):
            TABLE[i] += u[i]
        return TABLE[0] * TABLE[1] * TABLE[2]

    before = TABLE.copy()
    g = grad(f, compile=True)(U)
    assert ways == [True]
    assert_array_equal(TABLE, before)
    assert_allclose(g, grad(f, compile=False)(U), rtol=1e-13)


def test_arguments_that_share_memory(ways):
    def product(a, b):
        return a[0] * b[1] + a[2] * b[2]

    u = U.copy()
    assert_allclose(
        np.array(grad(product, (0, 1), compile=True)(u, u)),
        np.array(grad(product, (0, 1), compile=False)(u, u)),
    )
    assert ways == [True]

    def writes(a, b):
        a[0] = b[1]
        return a[0] * b[0]

    with pytest.raises(SharedArgumentsError):
        grad(writes, compile=True)(u, u)
    assert_array_equal(u, U)


def test_read_only_arguments(ways):
    u = U.copy()
    u.flags.writeable = False
    assert_allclose(grad(energy, compile=True)(u, 2.0), 4.0 * U)
    with pytest.raises(ValueError, match="read-only"):
        grad(smoothed, compile=True)(u, 0.7)
    assert ways == [True, False]


@pytest.mark.parametrize("u", [np.zeros((4, 3)).T + 0.5, np.ones((6, 4))[::2, 1:], np.ones((0, 2))])
def test_arrays_in_any_order(u, ways):
    def f(a):
        total = 0.0
        for row in a:
            row *= 1.5
            for x in row:
                total += x * x
        return total

    g = grad(f, compile=True)(u)
    assert ways == [True]
    assert g.flags.c_contiguous
    assert g.flags.owndata
    assert_allclose(g, grad(f, compile=False)(u))


def test_what_does_not_depend_on_an_argument(ways):
    def f(a, b, x):
        a[0] = 3.0
        return b[0] * 2.0 if len(a) > 7 else a[0] * 2.0

    ga, gb, gx = grad(f, (0, 1, 2), compile=True)(U, U.copy(), 1.5)
    assert ways == [True]
    assert_array_equal(ga, np.zeros(3))
    assert_array_equal(gb, np.zeros(3))
    assert type(gx) is float
    assert gx == 0.0


def test_values_that_are_not_finite_go_the_general_way(ways):
    def f(u):
        return u[0] / u[1]

    with np.errstate(all="ignore"):
        value, g = value_and_grad(f, compile=True)(np.array([1.0, 0.0]))
    assert value == np.inf
    assert_array_equal(g, [np.inf, -np.inf])
    assert ways == [False]


def test_whoever_looks_on_sees_a_tape(ways):
    seen = []
    with progress(seen.append, every=0.0):
        grad(energy, compile=True)(U, 1.0)
    assert ways == [False]
    assert seen


def test_rules_of_a_block_hold(ways):
    with local_rules():
        grad(energy, compile=True)(U, 1.0)
    assert ways == [False]


def test_inner_derivatives_go_the_general_way(ways):
    def outer(u):
        return np.sum(grad(energy)(u, 2.0) ** 2)

    assert_allclose(grad(outer, compile=True)(U), 32.0 * U)
    assert not any(ways)


def test_pullbacks_that_wait_keep_what_they_need(tried):
    inputs = [U, 2 * U, 3 * U]
    expected = [grad(smoothed, compile=False)(u, 0.7) for u in inputs]
    for _ in range(2):
        waiting = [vjp(smoothed, u, 0.7, compile=True)[1] for u in inputs]
        grad(smoothed, compile=True)(5 * U, 0.7)
        for pullback, g in zip(waiting, expected, strict=True):
            assert_allclose(pullback(1.0)[0], g, rtol=1e-12)
            assert_allclose(pullback(2.0)[0], 2 * g, rtol=1e-12)
    assert all(tried)


def test_arrays_of_less_precision(ways):
    def f(u, w, c):
        w[1:] *= c * u[1:]
        return np.sum(w) * c, w

    u, w = U.astype(np.float32), np.float32([1.5, 2.5, 3.5])
    for given in ((u, w, np.float32(0.5)), (u, w, 0.5), (U, w, np.float32(0.5)), (u, U, 0.5)):
        (value, aux), g = value_and_grad(f, (0, 1, 2), has_aux=True, compile=True)(*given)
        (expected, aux0), h = value_and_grad(f, (0, 1, 2), has_aux=True, compile=False)(*given)
        assert type(value) is type(expected)
        assert_allclose(value, expected, rtol=1e-6)
        for a, b in zip((*g, aux), (*h, aux0), strict=True):
            assert type(a) is type(b)
            assert a.dtype == b.dtype if type(a) is np.ndarray else True
            assert_allclose(a, b, rtol=1e-6)
    assert any(ways)


def test_parameters_that_are_bound_again_and_given_back(ways):
    def f(u, n, x):
        x = x * u[0]
        s = 0.0
        for i in range(n):
            s += x * u[i] * u[i]
        n = n - 1
        return s, (n, x)

    (value, aux), g = value_and_grad(f, (0, 2), has_aux=True, compile=True)(U, 3, 0.5)
    (expected, aux0), h = value_and_grad(f, (0, 2), has_aux=True, compile=False)(U, 3, 0.5)
    assert ways == [True]
    assert aux == pytest.approx(aux0)
    assert value == pytest.approx(expected)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b, rtol=1e-13)


class Model:
    def __init__(self, w):
        self.w = w
        self.runs = 0

    def loss(self, u, c=2.0):
        self.runs = self.runs + 1
        u *= c
        return np.sum(self.w * u * u)


@pytest.mark.parametrize("argnums", [0, "u", (0, 1), ("c", 0)])
def test_methods(argnums, ways):
    model = Model(np.array([1.0, 2.0, 3.0]))
    u = U.copy()
    for _ in range(2):
        value, g = value_and_grad(model.loss, argnums, compile=True)(u, 1.5)
    expected, h = value_and_grad(model.loss, argnums, compile=False)(u, 1.5)
    assert ways == [True, True]
    assert model.runs == 0
    assert_array_equal(u, U)
    assert value == pytest.approx(expected)
    for a, b in zip(g, h, strict=True) if type(g) is tuple else [(g, h)]:
        assert_allclose(a, b, rtol=1e-13)
    for how in (True, False):
        with pytest.raises(SharedArgumentsError):
            grad(Model(u).loss, compile=how)(u, 1.5)


def test_functions_are_read_and_printed_with_limits_raised(tried, monkeypatch):
    depths = []

    def noting(run):
        def noted(*args, **options):
            depths.append(limits._depth)
            return run(*args, **options)

        return noted

    def f(u):
        return u[0] * u[1]

    monkeypatch.setattr(site, "read_function", noting(site.read_function))
    monkeypatch.setattr(region_site, "form_of", noting(region_site.form_of))
    grad(f, compile=True)(U)
    assert depths == [1, 1]
    assert limits._depth == 0
