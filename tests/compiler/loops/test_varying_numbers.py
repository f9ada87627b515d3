"""Names that hold an int or a float, told apart when the program runs: in loops and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.7, -1.3, 1.9])


@programs(X)
def largest(x):
    s = 0
    for j in range(3):
        s = max(s, x[j])
    return s


@programs(X)
def smallest_of_a_callee(x):
    def least(a, b):
        return min(a, b)

    s = 0.0
    for j in range(3):
        s = least(s, x[j])
    return s * s


@programs(X)
def called_with_others(x):
    def top(x):
        s = 0
        for j in range(3):
            s = max(s, x[j])
        return s

    return np.sin(top(x)) * len({"a": 1})


@programs(X)
def truth_of_a_number(x):
    def flag(x, n):
        s = x[1]
        s = n
        s = n > 1
        return s  # noqa: RET504

    return np.sum(x * x[flag(x, 2)]) * len({"a": 1})


@programs(X)
def negative_power(x):
    def inverse(x, n):
        s = x[0]
        if n > 1:
            s = n
        return s**-1

    return np.sum(x * x) * inverse(x, 2) * len({"a": 1})


@programs(X)
def power_by_a_name(x):
    def power(x, n, k):
        return max(n, x[0]) ** k

    return np.sum(x * x) * power(x, 2, -1) * len({"a": 1})


@pytest.mark.parametrize("program", programs, ids=str)
def test_number(program: Program) -> None:
    program.check()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("program", programs, ids=str)
def test_compiled(program: Program) -> None:
    pytest.importorskip("llvmlite")
    value, g = value_and_grad(program.f, compile=True)(X)
    plain, h = value_and_grad(program.f)(X)
    assert value == pytest.approx(plain, rel=1e-13)
    np.testing.assert_allclose(g, h, rtol=1e-12)


def test_the_type_is_that_of_the_larger_one() -> None:
    assert type(value_and_grad(largest)(X)[0]) is np.float64
