"""Running extrema and logarithms of sums: as the ufunc, called on one element after the other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hvp, jvp, value_and_grad
from tests.support.pairs import rotating

RANDOM = np.random.default_rng(8)
ARRAYS = {
    "vector": RANDOM.normal(size=9),
    "ties": np.round(2.0 * RANDOM.normal(size=12)) / 2.0,
    "constant": np.zeros(5),
    "rows": RANDOM.normal(size=(4, 5)),
    "ties in rows": np.round(RANDOM.normal(size=(4, 5, 2))),
    "columns": np.asfortranarray(RANDOM.normal(size=(5, 3))),
    "reversed": RANDOM.normal(size=(4, 6))[::-1, ::2],
    "single": RANDOM.normal(size=(3, 4)).astype("f"),
    "one": np.array([2.0]),
    "none": np.zeros((0, 3)),
    "infinite": np.array([0.0, 1.0, np.inf, np.inf]),
}
UFUNCS = [np.maximum, np.minimum]


def one_by_one(ufunc, x, axis):
    items = np.moveaxis(x, axis, 0)
    results = [items[0]]
    for item in items[1:]:
        results.append(ufunc(results[-1], item))
    return np.stack(results, axis=axis)


@pytest.mark.parametrize(("x", "ufunc"), rotating(ARRAYS.values(), UFUNCS))
def test_running_extrema(ufunc, x):
    for axis in range(-1, x.ndim):
        if not x.shape[axis]:
            continue
        w = np.cos(np.arange(x.size)).reshape(x.shape)

        def f(x, axis=axis, w=w):
            return np.sum(w * ufunc.accumulate(x, axis))

        def slow(x, axis=axis, w=w):
            return np.sum(w * one_by_one(ufunc, x, axis))

        value, g = value_and_grad(f)(x)
        expected, h = value_and_grad(slow)(x)
        assert_array_equal(value, expected)
        assert g.dtype == x.dtype
        rtol = 1e-5 if x.dtype == "f" else 1e-13
        assert_allclose(g, h, rtol=rtol, atol=rtol)
        along = np.sin(np.arange(x.size)).reshape(x.shape).astype(x.dtype)
        assert_allclose(jvp(f, (x,), (along,))[1], np.sum(g * along), rtol=10 * rtol, atol=rtol)


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_nan_is_carried_on(ufunc):
    x = np.array([1.0, np.nan, 3.0])
    value, g = value_and_grad(lambda x: ufunc.accumulate(x)[0] + np.sum(x))(x)
    assert np.isnan(value)
    assert_array_equal(g, [2.0, 1.0, 1.0])


def test_second_derivatives_and_outputs():
    x = ARRAYS["vector"]

    def f(x):
        y = np.zeros_like(x)
        np.maximum.accumulate(x * x, out=y)
        return np.sum(np.maximum.accumulate(x**3)[::-1] * y + np.minimum.accumulate(x, dtype="d"))

    v = np.cos(np.arange(9.0))
    step = 1e-6
    difference = (grad(f)(x + step * v) - grad(f)(x - step * v)) / (2 * step)
    assert_allclose(hvp(f, (x,), v), difference, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 1), (0, 2), None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logarithms_of_sums(axis, keepdims):
    x = RANDOM.normal(size=(3, 2, 4)) * 20

    def f(x):
        y = np.logaddexp.reduce(x, axis, keepdims=keepdims)
        return np.sum(np.sin(y) * np.arange(np.size(y)).reshape(np.shape(y)) + y)

    def other(x):
        y = np.log(np.sum(np.exp(x), axis, keepdims=keepdims))
        return np.sum(np.sin(y) * np.arange(np.size(y)).reshape(np.shape(y)) + y)

    v = np.cos(np.arange(24.0)).reshape(3, 2, 4)
    assert f(x) == value_and_grad(f)(x)[0]
    assert_allclose(grad(f)(x), grad(other)(x), rtol=1e-9, atol=1e-12)
    assert_allclose(jvp(f, (x,), (v,))[1], jvp(other, (x,), (v,))[1], rtol=1e-9)
    assert_allclose(hvp(f, (x,), v), hvp(other, (x,), v), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_logarithms_of_running_sums(axis):
    x = RANDOM.normal(size=(3, 2, 4)) * 20

    def f(x):
        return np.sum(np.sin(np.logaddexp.accumulate(x, axis)) * np.arange(24.0).reshape(3, 2, 4))

    def other(x):
        y = np.log(np.cumsum(np.exp(x), axis))
        return np.sum(np.sin(y) * np.arange(24.0).reshape(3, 2, 4))

    v = np.cos(np.arange(24.0)).reshape(3, 2, 4)
    assert f(x) == value_and_grad(f)(x)[0]
    assert_allclose(grad(f)(x), grad(other)(x), rtol=1e-9, atol=1e-12)
    assert_allclose(jvp(f, (x,), (v,))[1], jvp(other, (x,), (v,))[1], rtol=1e-9)
    assert_allclose(hvp(f, (x,), v), hvp(other, (x,), v), rtol=1e-8, atol=1e-10)


def test_running_sums_far_from_one_another():
    x = np.array([-800.0, 900.0, 1.0, 950.0])
    assert_allclose(grad(lambda x: np.logaddexp.accumulate(x).sum())(x), [1.0, 2.0, 0.0, 1.0])


def test_what_is_not_finite_goes_one_by_one():
    x = np.array([-np.inf, 0.5, -np.inf, 1.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g = grad(np.logaddexp.reduce)(x)
    share = 1 / (1 + np.exp(1.0))
    assert_allclose(g, [0.0, share, 0.0, 1 - share])
