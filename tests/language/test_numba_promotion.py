"""Ints of few bits and bools in jitted functions, with which Numba computes in 64 bits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import jvp, value_and_grad

numba = pytest.importorskip("numba")
from numba import njit  # noqa: E402

X = np.array([0.3, -0.7, 1.2])
BYTES = np.array([200, 100, 3], np.uint8)
SMALL = np.array([100, 100, -128], np.int8)
INTS = np.array([2**31 - 1, 5, 2], np.int32)
UNSIGNED = np.array([2**32 - 1, 5, 2], np.uint32)
TRUTHS = np.array([True, True, False])


@njit
def neighbours(x, _):
    s = 0.0
    for i in range(len(x) - 1):
        s += x[i] * ((x[i] > 0) + (x[i + 1] > 0))
        s -= x[i] * ((x[i] > 0) - (x[i + 1] > 0.5))
    return s


@njit
def polynomial(x, t):
    return x[0] * (t[0] + t[1]) + x[1] * (t[0] * t[1]) - x[2] * (t[0] - 5)


@njit
def shifted(x, t):
    return x[0] * (t[0] << 2) + x[1] * (int(t[0]) - int(t[1])) + x[2] * (t[0] + 7) * (t[1] % 3)


@njit
def summed(x, t):
    s = 0
    for v in t:
        s += v
    first = t[0]
    first += t[1]
    return x[0] * s * first + x[1] * sum(t)


@njit
def of_arrays(x, t):
    doubled = t + t
    return (x * (t * 2 + 1)).sum() + (x * doubled).sum() + x[0] * np.multiply(t[0], 3)


@njit
def converted(x, t):
    return x[0] * (np.int32(len(t)) + np.int32(2**31 - 1))


@njit
def negated(x, t):
    return x[0] * -t[0] + x[1] * (-(x[0] > 0)) + x[2] * (~(x[1] > 0) + 1)


@njit
def rooted(x, t):
    return x[0] * np.sqrt(t[0])


@njit
def negated_again(x, t):
    s = -t[0]
    return x[0] * -s + x[1] * ~s


@njit
def one_of_several(x, t):
    largest = max(t[0], len(t))
    return x[0] * -largest + x[1] * ~(t[1] if x[0] > 0 else 5) + x[2] * np.sqrt(max(t[2], 2))


@njit
def of_truths(x, _):
    return x[0] * np.exp(x[0] > 0) + x[1] * np.sin(not x[2]) + x[2] * np.exp(bool(x[0]))


@njit
def of_two(x, t):
    return x[0] * np.arctan2(t[0], t[1]) + x[1] * np.sum(np.hypot(t, t[1]))


doubled = njit(lambda x, t: x[0] * (t[0] + t[1]))


def within(x, t):
    return doubled(x, t) * x[1]


CASES = [
    (neighbours, TRUTHS), (converted, TRUTHS), (negated, TRUTHS), (negated, BYTES),
    (summed, TRUTHS), (rooted, BYTES), (negated, SMALL[2:]),
    (of_truths, TRUTHS), (of_two, BYTES), (of_two, SMALL), (of_two, TRUTHS),
    *((f, t) for f in (negated_again, one_of_several) for t in (BYTES, SMALL, UNSIGNED)),
    *((f, t) for f in (polynomial, shifted, summed) for t in (BYTES, SMALL, INTS, UNSIGNED)),
    *((f, t) for f in (of_arrays, doubled, within) for t in (BYTES, SMALL, INTS, TRUTHS)),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "t"), CASES)
def test_the_value_is_that_of_the_call(f, t):
    expected = f(X, t)
    value, g = value_and_grad(f)(X, t)
    assert_allclose(value, expected, rtol=1e-7)
    by_differences = [(f(X + h, t) - f(X - h, t)) / 0.02 for h in 0.01 * np.eye(3)]
    assert_allclose(g, by_differences, rtol=1e-6, atol=1e-9 * abs(expected))
    assert_allclose(value_and_grad(f, compile=True)(X, t)[0], expected, rtol=1e-7)
    assert_allclose(jvp(f, (X, t), (X, None)), (expected, g @ X), rtol=1e-7)


@njit
def difference(x, t):
    return x[0] * (t[2] - t[0])


@njit
def far_shifted(x, t):
    return x[0] * (t[0] << 62)


@njit
def in_one_loop(x, t):
    return (x * (t + t)).sum()


@njit
def largest_negated(x, t):
    largest = 0
    for i in range(len(t)):
        if t[i] > largest:
            largest = t[i]
    return x[0] * -largest


@pytest.mark.parametrize(
    ("f", "t"),
    [
        (difference, BYTES), (far_shifted, INTS), (in_one_loop, BYTES), (in_one_loop, TRUTHS),
        (largest_negated, BYTES),
    ],
)  # fmt: skip
def test_what_compiled_code_wraps_around_is_refused(f, t):
    with pytest.raises(OverflowError, match="compiled code"):
        value_and_grad(f)(X, t)
    small = np.array([3, 2, 5], np.uint8)
    assert_allclose(value_and_grad(difference)(X, small)[0], difference(X, small))


@njit
def squared(x, n):
    return x * (n * n)


@njit
def moved(x, n):
    return x * (n << 62) + x * (n * 2**61)


def test_products_of_large_ints():
    for f, fits, exceeds in ((squared, 2**31, 2**33), (moved, 1, 5)):
        assert value_and_grad(f)(1.5, fits) == (f(1.5, fits), f(1.0, fits))
        with pytest.raises(OverflowError, match="an int of 64 bits"):
            value_and_grad(f)(1.5, exceeds)
