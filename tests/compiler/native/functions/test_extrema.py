"""Extrema, products and tables at special points, in every mode, and compiled."""

from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain

TIES = np.array([[1.0, 3.0, 3.0], [3.0, -2.0, -2.0], [0.0, 0.0, 0.0]])
PLAIN = np.array([[0.3, -0.7, 1.1], [0.6, 0.2, -0.4], [1.3, 0.9, -1.2]])


def largest(x):
    return np.max(x) * 2 + x.min() + np.max(x, axis=0) @ x[0] + np.sum(np.min(x, axis=1) ** 2)


def softened(x):
    total = 0.0
    for row in x:
        m = np.max(row)
        total += m + np.log(np.sum(np.exp(row - m)))
    return total * max(x[0])


def products(x):
    return np.prod(x, axis=0) @ x[1] + np.prod(x[1]) + np.sum(np.cumprod(x, axis=1) * x)


def sums(x):
    y = np.cumsum(x[0])
    y[1:] *= np.diff(np.cumsum(x[1]))
    return np.concatenate((y, np.roll(x[2], 1))) @ np.arange(6) + np.clip(x, 0.0, 1.0).sum()


def table(x):
    nodes = np.cumsum(x[2] * x[2] + 0.1)
    k = np.searchsorted(nodes, x[1, 1])
    return np.sum(np.interp(x[0] * 2, nodes, x[1])) + x[0, k % 3] * np.argmax(x)


def masks(x):
    if np.any(x > 1.2) and not np.all(x > 0.0):
        return np.sum(x * x) * np.count_nonzero(x > 0.0)
    return np.sum(x)


FUNCTIONS = [largest, softened, products, sums, table, masks]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("x", [PLAIN, TIES], ids=["plain", "ties"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_mode(f, x, tried):
    along = np.cos(x * 5)
    value, g = value_and_grad(f, compile=True)(x.copy())
    expected, h = value_and_grad(f)(x.copy())
    assert_allclose(value, expected, rtol=1e-12)
    assert_allclose(g, h, rtol=1e-10, atol=1e-13)
    found = jvp(f, (x,), (along,), compile=True)
    assert_allclose(found, jvp(f, (x,), (along,)), rtol=1e-10)
    second = hvp(f, (x,), along, compile=True)
    assert_allclose(second, hvp(f, (x,), along), rtol=1e-9, atol=1e-12)
    assert report(f)[0].found == "compiled"
    assert all(tried)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_nan_and_infinity_run_as_without(f, tried):
    for bad in (np.nan, np.inf, -np.inf):
        x = PLAIN.copy()
        x[0, 1] = bad
        with np.errstate(all="ignore"):
            found = value_and_grad(f, compile=True)(x.copy())
            expected = value_and_grad(f)(x.copy())
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b) if not np.all(np.isfinite(b)) else assert_allclose(
                a, b, rtol=1e-12
            )


@pytest.mark.usefixtures("tried")
def test_nothing_is_no_extremum():
    with pytest.raises(ValueError, match="zero-size"):
        value_and_grad(largest, compile=True)(np.zeros((0, 3)))


@pytest.mark.slow
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_compiled_by_llvm(f):
    pytest.importorskip("llvmlite")
    f = FunctionType(f.__code__.replace(), f.__globals__)  # of which nothing is known yet
    found = value_and_grad(f, compile=True)(PLAIN.copy())
    expected = value_and_grad(f)(PLAIN.copy())
    assert report(f)[0].found == "compiled"
    for a, b in zip(found, expected, strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: max([abs(v) for v in x[0]], key=lambda v: -v),
        lambda x: min((v * v for v in x[1]), key=lambda v: (v - 0.3) ** 2),
        lambda x: max([v * v for v in x[0]], default=2.0) + x[0, 0],
    ],
)  # fmt: skip
def test_keys_are_not_left_out(f):
    pytest.importorskip("llvmlite")
    value, gradient = value_and_grad(f, compile=True)(PLAIN.copy())
    expected, expected_gradient = value_and_grad(f)(PLAIN.copy())
    assert value == expected == f(PLAIN)
    assert_allclose(gradient, expected_gradient)


EXTREMES = [0.1, 1 / 3, 0.7, -0.0, 0.0, np.inf, -np.inf]


def top(x):
    return x.max()


def bottom(x):
    return np.min(x)


def how_many(x):
    return np.sum(x == x.max()) * x[0]


def above_first(x):
    return (1.0 if x.max() > x[0] else 0.0) * x[1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", [top, bottom, how_many, above_first])
def test_what_ties_is_one_of_the_elements(f, dtype) -> None:
    """Its derivative is that of their mean, its value is not: that is rounded."""
    random = np.random.default_rng(1)
    uniform = [np.full(n, value, dtype) for n in (2, 3, 7) for value in EXTREMES]
    mixed = [random.choice(np.array(EXTREMES, dtype), 6) for _ in range(12)]
    for x in uniform + mixed:
        with np.errstate(all="ignore"):
            expected = np.asarray(f(x))
            value, gradient = value_and_grad(f)(x)
            compiled, found = value_and_grad(f, compile=True)(x)
        assert np.asarray(compiled).tobytes() == expected.tobytes(), x
        np.testing.assert_equal(compiled, value)
        np.testing.assert_allclose(found, gradient, rtol=1e-6)
