"""Loops over several arrays, and variables that are read after the loop that binds them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

X = np.array([0.7, -1.2, 0.4, 1.5, -0.3])
A = np.arange(20.0).reshape(5, 4) / 7


def counters_after_loops(x, a, n):
    s = 0.0
    for i in range(n):
        s += x[i]
        for j in range(i + 1):
            s += x[j] * j
        s *= j + 1
    return s * i + x[i]


def counter_of_a_loop_that_is_left(x, a, n):
    for i in range(5):
        if x[i] > 0.9:
            break
    return x[i] * 2 + i


def ints_of_the_last_pass(x, a, n):
    for i in range(n):
        k = i * 2 + 1
    return x[k - 3] * k


def pairs_that_are_counted(x, a, n):
    s = 0.0
    for i, (p, q) in enumerate(zip(x, x[::-1], strict=False)):
        s += p * q * i
    for k, (p, q) in enumerate(zip(x[:-1], x[::-1][:-1], strict=True), 1):
        s += p / (k + q * q)
    for i, (row, p) in enumerate(zip(a, x, strict=False)):
        row *= p
        s += row[i % 4]
    return s + a.sum()


@pytest.mark.parametrize(
    "f",
    [
        counters_after_loops, counter_of_a_loop_that_is_left, ints_of_the_last_pass,
        pairs_that_are_counted,
    ],
)  # fmt: skip
def test_what_is_compiled_agrees(f, tried):
    agree(f, 3)
    require_compiled(f, tried)


def test_a_loop_that_does_not_run_binds_nothing(tried):
    for f in (counters_after_loops, ints_of_the_last_pass):
        with pytest.raises(UnboundLocalError):
            value_and_grad(f, (0, 1), compile=True)(X.copy(), A.copy(), 0)
    assert not any(tried)


def bound_in_some_passes(x, a, n):
    for i in range(n):
        if x[i] < 0:
            j = i
    return x[j]


def test_what_only_some_passes_bind_runs_as_without(tried):
    agree(bound_in_some_passes, 3)
    assert "may not be bound here" in str(report(bound_in_some_passes)[0])


def agree(f, n):
    value, g = value_and_grad(f, (0, 1), compile=True)(X.copy(), A.copy(), n)
    expected, h = value_and_grad(f, (0, 1))(X.copy(), A.copy(), n)
    assert_allclose(value, expected, rtol=1e-12)
    for p, q in zip(g, h, strict=True):
        assert_allclose(p, q, rtol=1e-11)
