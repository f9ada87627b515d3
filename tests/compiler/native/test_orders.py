"""Arrays in other orders and views as arguments of compiled functions, in every mode."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain


def changed(u, a):
    u[1:, 0] = a * u[:-1, 1] + np.sin(u[1:, 0])
    u *= u
    return np.sum(u * u) * a


def only_read(u, a):
    return np.sum(np.sin(a * u) * u)


VIEWS = {
    "fortran": lambda x: np.asfortranarray(x[:4, :3]),
    "transpose": lambda x: x.T,
    "steps": lambda x: x[::2, 1::2],
    "backwards": lambda x: x[::-1],
    "columns": lambda x: x[:, :2],
    "empty": lambda x: x[:0, ::2][:, :2],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("of", [changed, only_read])
@pytest.mark.parametrize("name", VIEWS)
def test_views_agree_in_every_mode(of, name, tried):
    x = np.random.default_rng(0).standard_normal((6, 6))

    def within(x, a):
        try:  # of which functions are not compiled
            return of(VIEWS[name](x), a) + np.sum(x)
        finally:
            pass

    before = x.copy()
    value, g = value_and_grad(within, (0, 1), compile=True)(x, 0.7)
    ran = name != "empty" or of is only_read  # 1: is out of bounds there
    assert set(tried) == {ran}
    expected, h = value_and_grad(within, (0, 1))(x, 0.7)
    np.testing.assert_array_equal(x, before)
    assert_allclose(value, expected, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    along = np.cos(x), 0.3
    for p, q in zip(
        jvp(within, (x, 0.7), along, compile=True), jvp(within, (x, 0.7), along), strict=True
    ):
        assert_allclose(p, q, rtol=1e-11)
    second = hvp(within, (x, 0.7), along, (0, 1), compile=True)
    for p, q in zip(second, hvp(within, (x, 0.7), along, (0, 1)), strict=True):
        assert_allclose(p, q, rtol=1e-10, atol=1e-12)
    assert all(tried) is ran


def test_arguments_themselves(tried):
    x = np.asfortranarray(np.random.default_rng(1).standard_normal((4, 3)))
    given = x.copy("K")
    g = grad(changed, compile=True)(given, 0.5)
    assert tried == [True]
    assert_allclose(g, grad(changed)(x, 0.5), rtol=1e-12)
    np.testing.assert_array_equal(given, x)
    assert given.flags.f_contiguous


def both(u, v):
    u *= v
    return np.sum(u * u * v)


VIEWS_OF_ONE_ARRAY = {
    "apart": (both, lambda x: (x[:, 0], x[:, 1])),
    "together": (both, lambda x: (x[:, 0], x[:, 0])),
    "turned": (both, lambda x: (x, x.T)),
    "windows": (only_read, lambda x: (sliding_window_view(x[0], 2), 1.0)),
}


def agree(f, x):
    ways = [
        (
            *value_and_grad(f, compile=compile)(x),
            *jvp(f, (x,), (np.cos(x),), compile=compile),
            hvp(f, (x,), np.sin(x), compile=compile),
        )
        for compile in (False, True)
    ]
    for a, b in zip(*ways, strict=True):
        assert_allclose(b, a, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", VIEWS_OF_ONE_ARRAY)
def test_views_of_one_array(name, tried):
    of, views = VIEWS_OF_ONE_ARRAY[name]

    def whole(x):
        return of(*views(x))

    def alone(x):
        s = 0.0
        for _ in {"what loops over sets is not compiled"}:
            s = of(*views(x))
        return s

    x = np.random.default_rng(2).standard_normal((4, 4))
    agree(whole, x)
    assert any(tried) is (name != "windows")
    tried.clear()
    agree(alone, x)
    assert any(tried) is (name == "apart")  # others share what is called takes for apart


def test_later_changes_of_a_view_are_not_seen(tried):
    x = np.random.default_rng(3).standard_normal((4, 4))

    def whole(x):
        parts = [x[:, 1]]
        s = only_read(parts[0], 0.5)
        x[:, 1] = 3.0
        return s + changed(*[x.T, 0.5]) * len(parts)

    def apart(x):
        s = 0.0
        for _ in {"what loops over sets is not compiled"}:
            s = only_read(x[:, 1], 0.5)
            x[:, 1] = 3.0
        return s + changed(x.T, 0.5)

    agree(whole, x)
    assert tried
    assert all(tried)
    assert report(whole)[0].found == "compiled"
    tried.clear()
    assert_allclose(grad(apart, compile=True)(x), grad(apart)(x), rtol=1e-12)
    assert tried == [True, True]
