"""Tangents of maxima and minima agree with their cotangents: at ties, and with `initial`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hvp, jvp, vjp
from tests.support.pairs import rotating

A = np.array([[1.0, 3.0, 3.0], [2.0, -1.0, 2.0], [0.5, 0.5, 0.5]])
DA = np.array([[1.0, 0.5, -2.0], [0.25, 4.0, 1.5], [3.0, -1.0, 0.25]])
WHERE = np.array([[True, False, True]] * 3)

REDUCE: Any = np.fmax.reduce
FUNCTIONS: dict[str, Any] = {
    "max": lambda a, v: np.max(a),
    "rows": lambda a, v: np.max(a, axis=1),
    "columns-kept": lambda a, v: a.min(0, keepdims=True),
    "both": lambda a, v: np.max(a, axis=(0, 1)),
    "initial": lambda a, v: np.max(a, axis=1, initial=v),
    "initial-by-position": lambda a, v: np.min(a, 0, None, True, v),
    "where": lambda a, v: np.min(a, axis=1, initial=v, where=WHERE),
    "nanmax": lambda a, v: np.nanmax(np.where(a < 0, np.nan, a), axis=1, initial=v),
    "reduce": lambda a, v: np.maximum.reduce(a, axis=1),
    "reduce-initial": lambda a, v: np.fmin.reduce(a, axis=0, initial=v),
    "reduce-rounded": lambda a, v: np.maximum.reduce(a / 3, axis=1, dtype=np.float32),
    "reduce-rounded-initial": lambda a, v: REDUCE(a / 3, 0, "f2", initial=v / 3),
    "reduce-complex": lambda a, v: np.minimum.reduce(a / 3, axis=1, dtype=complex).real,
    "reduce-where": lambda a, v: REDUCE(a, 1, None, None, False, v, WHERE),
}


@pytest.mark.parametrize(("initial", "f"), rotating([0.0, 2.0], FUNCTIONS.values()))
def test_tangents_and_cotangents_agree(f: Any, initial: float) -> None:
    y, dy = jvp(f, (A, initial), (DA, 0.75))
    assert_array_equal(y, f(A, initial))
    assert np.shape(dy) == np.shape(y)
    value, pullback = vjp(f, A, initial)
    weights = np.cos(np.arange(np.size(value), dtype=float)).reshape(np.shape(value))
    da, dv = pullback(weights if np.ndim(value) else float(weights))
    expected = np.sum(da * DA) + (0.0 if dv is None else dv) * 0.75
    rtol = 45 * np.finfo(np.asarray(y).dtype).eps
    assert_allclose(np.sum(dy * weights), expected, rtol=rtol)


def test_second_derivatives_of_the_largest() -> None:
    def f(a: Any) -> Any:
        return np.sum(np.max(a * a, axis=1) * a[:, 0])

    a = np.array([[1.0, 3.0], [2.0, -1.0]])
    (product,) = hvp(f, (a,), (np.ones((2, 2)),), argnums=(0,))
    assert_allclose(product, [[6.0, 8.0], [12.0, 0.0]])


def test_what_is_not_the_largest_may_have_any_tangent() -> None:
    _, dy = jvp(lambda a: np.max(a, axis=0), (A,), (np.where(A > 2.5, 1.0, np.inf),))
    assert_array_equal(dy, [np.inf, 1.0, 1.0])


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.fmax, np.fmin])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_the_extremum_of_rounded_elements_is_one_of_them(ufunc: Any, dtype: Any) -> None:
    x = np.array([0.7, -1.3, 2.1, 0.3])
    is_max = ufunc in (np.maximum, np.fmax)
    best = np.eye(4)[np.argmax(x) if is_max else np.argmin(x)]
    for options in ({}, {"where": x > -9, "initial": 0.1}, {"out": np.zeros((), dtype)}):
        dx = grad(lambda x, options=options: 1.0 * ufunc.reduce(x, dtype=dtype, **options))(x)
        assert_allclose(dx, best, rtol=1e-6)
    dx = grad(lambda x: np.max(ufunc.reduce(x[:, None], 1, dtype)) * 1.0)(x)
    assert_array_equal(dx, np.eye(4)[np.argmax(x)])
