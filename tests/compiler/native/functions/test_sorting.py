"""Sorted vectors and medians in compiled functions."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.regions import systems
from tests.compiler.native.agreeing import agree, copies, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "np.sort(x)[2] * x[0] + np.sum(np.sort(A[:, 1] * y) * y)",
    "x[np.argsort(y)] @ x + x.argsort()[0] * x[1] + np.sort(x[:1])[0]",
    "x.sort(); A[1].sort(); np.sum(x * y) + np.sum(A * B)",
    "np.median(x) * np.median(y[:4]) + np.median(T[0, 1])",
]


@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


@pytest.mark.parametrize("x", [[1.0, 2, 1, 0, 3], [np.nan, 1, 2, 3, 0]], ids=["ties", "nan"])
def test_ties_and_nan_are_left_to_numpy(x: list[float], tried: list[bool]) -> None:
    f = function("np.sort(x) @ np.where(y > 9, y, 1.0 * np.arange(5))")
    args = np.array(x), *copies()[1:]
    ways = [value_and_grad(f, compile=way)(*args) for way in (False, True)]
    np.testing.assert_equal(ways[1][0], ways[0][0])
    np.testing.assert_equal(ways[1][1], ways[0][1])
    assert True not in tried


def test_a_median_along_no_axis_is_not_that_of_all() -> None:
    f = function("np.sum(np.median(x, axis=()) * x)")
    value, _ = value_and_grad(f, compile=True)(*copies())
    assert value == np.sum(copies()[0] ** 2)


def test_orders() -> None:
    rng = np.random.default_rng(0)
    for n in range(18):
        a, order = rng.standard_normal(n), np.empty(n, int)
        assert systems.order_of(order, a)
        np.testing.assert_array_equal(order, np.argsort(a))
