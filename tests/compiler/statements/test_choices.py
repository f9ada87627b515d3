"""Choices by comparisons of arrays within statements that are one entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad, jvp
from mooncake_py.compiler.regions.ir import Call, Const, Name, Op, parts_of
from mooncake_py.compiler.statements.choices import by_order, order_of, tangent_by_comparisons
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


# Maxima and minima.


def test_maxima_of_arrays_and_numbers_to_second_order() -> None:
    def program(x: Any, m: Any) -> Any:
        y = np.maximum(x * x, m) * np.minimum(m[0], 0.4)
        np.minimum(y, m * x, out=y)
        m[1] -= np.maximum(x, 0.0) * x + np.minimum(2.0, m[2])
        s = np.maximum(x[0], x[1]) * x[0]
        return np.sum(y * y * s) + np.sum(m * m)

    check_to_second_order(program, X, M)


@pytest.mark.parametrize("f", [np.maximum, np.minimum])
def test_tangents_of_what_ties_are_shared_and_those_of_nan_are_zero(f: Any) -> None:
    a, b = np.array([1.0, 2.0, 3.0, np.nan, 1.0]), np.array([1.0, 3.0, 2.0, 1.0, np.nan])
    ta, tb = np.full(5, 10.0), np.full(5, 1.0)
    _, t = jvp(lambda a, b: f(a, b) + 0.0, (a, b), (ta, tb))
    first, second = (1.0, 10.0) if f is np.maximum else (10.0, 1.0)
    assert_array_equal(t, [5.5, first, second, 0.0, 0.0])
    _, t = jvp(lambda a: f(a, 2.0) + 0.0, (a,), (ta,))
    assert_array_equal(t, [0.0, 5.0, 10.0, 0.0, 0.0] if f is np.maximum else [10, 5, 0, 0, 10])


def test_what_is_not_chosen_may_move_infinitely() -> None:
    a, b = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    _, t = jvp(lambda a, b: np.maximum(a, b) * 2.0, (a, b), (np.array([np.inf, 1.0]), np.ones(2)))
    assert_array_equal(t, [2.0, 2.0])


def test_neither_tangent_is_chosen_beside_nan_even_if_it_is_nan():
    def f(a, b):
        a[:] = np.maximum(a + 0.0, b)
        return a

    a, b = np.array([np.nan, 1.0, 3.0]), np.array([1.0, np.nan, 1.0])
    given = (np.array([np.nan, 1.0, 2.0]), np.array([1.0, np.inf, 5.0]))
    np.testing.assert_array_equal(jvp(f, (a, b), given)[1], [0.0, 0.0, 2.0])


@pytest.mark.parametrize(
    "a", [0.5, 2.0, np.nan, [0.5, 2.0], [1.0, 0.5], [np.nan, 2.0], [[0.5], [3.0]]]
)
def test_a_choice_by_order_is_that_by_comparisons(a):
    a, b, x, y = np.asarray(a), np.float64(1.0), np.array([3.0, 4.0]), -0.0
    rest = np.array([7.0, 8.0])
    found = by_order(a > b, a < b, x, y, lambda: rest)
    expected = np.where(a > b, x, np.where(a < b, y, rest))
    assert_array_equal(found, expected)
    assert_array_equal(np.signbit(found), np.signbit(expected))


def test_only_tangents_by_comparisons_are_such():
    a, b, x, y = map(Name, "abxy")
    for function in (np.maximum, np.minimum):
        for tangents in ((x, y), (x, None), (None, y)):
            e = tangent_by_comparisons(Call(function, (a, b)), *tangents)
            first, second, ta, tb, rest = order_of(e)
            assert (ta, tb) == tuple(t or Const(0.0) for t in tangents)
            assert e == Call(np.where, (first, ta, Call(np.where, (second, tb, rest))))
    first, ta, other = parts_of(e)
    second, tb, rest = parts_of(other)

    def nested(first, ta, second, tb, rest):
        return Call(np.where, (first, ta, Call(np.where, (second, tb, rest))))

    for e in (
        a, other, rest, nested(first, x, second, tb, rest), nested(first, ta, second, tb, a),
        nested(second, ta, first, tb, a), nested(Op("gt", (b, a)), ta, second, tb, rest),
    ):  # fmt: skip
        assert order_of(e) is None
