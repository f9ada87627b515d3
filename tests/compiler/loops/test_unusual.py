"""What happens in a loop that a region does not take: it is put back and runs as it is written."""

from __future__ import annotations

import signal
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, value_and_grad
from tests.compiler.comparing import agrees

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


@pytest.mark.plain
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_takes_the_general_way(bad, taken):
    def f(x):
        s = 0.0
        for i in range(5):
            s += 0.0 * x[i]
            if x[i] < 2.0:
                x[i] *= 2.0
        return x[0] + x[4]

    x = X.copy()
    x[2] = bad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_array_equal(grad(f)(x), [2.0, 0.0, 0.0, 0.0, 2.0])
    assert taken == [False]
    assert_array_equal(x[[0, 1, 3, 4]], X[[0, 1, 3, 4]])


@pytest.mark.plain
def test_what_overflows_on_the_way_warns_as_often_as_it_does_plainly():
    def f(x):
        s = 0.0
        for i in range(5):
            t = x[i] * 1e200 * 1e200
            t = x[i] * x[i]
            s += t
        return s

    counts = []
    for run in (f, value_and_grad(f)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            run(X.copy())
        counts.append([str(w.message) for w in told])
    assert counts == [["overflow encountered in scalar multiply"] * 5] * 2


@pytest.mark.plain
def test_copies_of_what_is_not_finite():
    def f(x):
        y = np.zeros(5)
        for i in range(5):
            y[i] = x[4 - i]
        return y[0] * 3.0

    assert_array_equal(grad(f)(np.array([1.0, np.nan, np.inf, 2.0, 3.0])), [0, 0, 0, 0, 3.0])


@pytest.mark.without_modes(
    "they are too large for other directions too", "forward", "inside", "other_dtypes"
)
def test_slopes_that_are_ints_too_large_for_floats():
    # The sum of the slopes, by which they are tested, overflows where none of them does.
    def f(x):
        k = 15 * 10**307
        s = 0.0
        for i in range(4):
            s += (x[i] * 1e-308) * 0.0
            t = k * x[i]
            s += t * 1e-308
        return s

    g = grad(f)(np.full(5, 1e-8))
    assert_allclose(g, [1.5 * 0.1 * 10] * 4 + [0.0])


def test_an_index_out_of_range_that_the_program_catches():
    def f(x):
        s = 0.0
        try:
            for i in range(7):
                x[i] *= 2.0
                s += x[i] * x[i]
        except IndexError:
            s *= i
        return s * np.sum(x)

    agrees(f, X)


def test_a_division_by_zero_that_the_program_catches():
    def f(x):
        s = 1.0
        try:
            for i in range(5):
                x[i] *= 2.0
                s += 1.0 / (i - 3) * x[i]
        except ZeroDivisionError:
            s *= i
        return s * np.sum(x)

    agrees(f, X)


@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError, RuntimeError])
def test_signals_pass_and_arrays_are_put_back(error):
    # Whatever a handler raised was taken for something unusual in the loop, which started over.
    def f(x, n):
        for i in range(n):
            x[i % 5] = 0.999 * x[i % 5] + 0.001
        return np.sum(x)

    def handler(*_):
        raise error

    x = X.copy()
    value_and_grad(f)(x, 10)
    before = signal.signal(signal.SIGVTALRM, handler)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.02)  # of its own time: the machine may be busy
    try:
        with pytest.raises(error):
            value_and_grad(f)(x, 500_000)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
    assert_array_equal(x, X)


def test_truth_as_an_index_is_a_mask():
    # A memory view takes True for 1.
    def f(x):
        s = 0.0
        for i in range(1, 4):
            s = s + x[not i] * x[i]
        return np.sum(s) + x[1]

    def store(x):
        for i in range(3):
            x[not i] = x[i] * 2.0
        return np.sum(x)

    agrees(f, X)
    agrees(store, X)
