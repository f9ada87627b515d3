"""Choices by comparisons of arrays within statements that are one entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.derivatives import check_to_second_order
from tests.support.gradients import check

X = np.array([0.7, -1.2, 0.8])
M = np.array([[2.1, 0.3, -0.4], [0.5, 1.9, 0.2], [-0.6, 0.7, 2.4]])


def limited(x: Any, m: Any) -> Any:
    y = np.where(x > 0.0, x * x, m[0]) * x
    m[...] = np.where(m < x, m * x, 0.0) - m
    m[1:] += np.where(x == x, x, m[1:] * 2.0)
    m[:, 0] *= np.where(np.sin(x) != 0.5, 2.0, x)
    return np.sum(np.where(y >= m, np.sin(m) * y, y)) + np.sum(np.where(x > 0.5, 0.0, x))


def with_numbers(x: Any, m: Any) -> Any:
    s = x[0] * 2.0
    y = np.where(x <= s, s, x * s)
    z = np.where(m > s, 1, m) + np.where(m[0] < 0.0, s * s, x)
    w = np.where(m > 0.0, 1.0, 0.0) * m
    return np.sum(y * z) + np.sum(np.sum(np.where(m > x, w * x, s), axis=0) * y)


@pytest.mark.parametrize("program", [limited, with_numbers])
def test_values_and_derivatives_to_second_order(program: Any) -> None:
    check_to_second_order(program, X, M)


def test_a_statement_with_a_choice_is_one_entry() -> None:
    ctx = ReverseContext()
    x = X.copy()
    ctx.registry.activate(x)
    ctx.call(lambda x: np.where(x > 0.0, x * x, 2.0) * x, x)
    assert len(ctx.tape) == 1


def test_values_and_types_are_those_of_numpy() -> None:
    def values(x: Any, k: Any) -> Any:
        return [
            np.where(x > 0.5, 1, 0) * k,
            np.where(x > 0.5, k, 1) + k,
            np.where(x[0] > 0.5, x[1] * 2.0, 1.0) + 1.0,
            np.where(x > np.nan, x * 2.0, k) * 1.0,
        ]

    def program(x: Any, k: Any) -> Any:
        found = values(x, k)
        seen.append([(np.asarray(v).dtype, np.shape(v)) for v in found])
        return sum(np.sum(v) for v in found)

    for k in (2, 2.5):
        seen: list[Any] = []
        check(program, X, k)
        assert all(types == seen[0] for types in seen)


def test_what_is_not_chosen_may_have_an_infinite_slope() -> None:
    def program(x: Any) -> Any:
        y = np.where(x > 0.0, np.sqrt(x), 0.0) * 1.0
        return np.sum(y * np.where(x > 0.0, y, 3.0))

    found = grad(program)(np.array([0.0, 4.0, 1.0]))
    assert_array_equal(found, [0.0, 1.0, 1.0])
