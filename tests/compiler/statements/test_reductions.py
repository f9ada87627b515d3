"""Sums, means and extrema along axes within statements that are one entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hvp, jvp
from mooncake_py.compiler.statements.below import below
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.cores import core_of
from tests.compiler.statements.derivatives import check_to_second_order
from tests.support.gradients import check

X = np.array([0.7, -1.2, 0.8])
M = np.array([[2.1, 0.3, -0.4], [0.5, 1.9, 0.2], [-0.6, 0.7, 2.4]])


def windows(x: Any, m: Any) -> Any:
    out = np.empty((2, 2))
    for i in range(2):
        out[i] = np.sum(m[i : i + 2, :, None] * m[:, 1:] * x[:, None], axis=(0, 1))
        out[:, i] += np.mean(m[:2] * x, 1) - x[i]
    return np.sum(out * out)


def centred(x: Any, m: Any) -> Any:
    m -= np.mean(m, axis=0)
    m /= np.sqrt(np.sum(m * m, axis=1, keepdims=True) + 1.0)
    m[1:] *= np.sum(m * x, axis=0) + m[1:]
    m[...] = np.sum(m * m, axis=0)
    p = np.exp(m)
    p = p / np.sum(p, axis=1, keepdims=True)
    return np.sum(p * x)


def attraction(x: Any, m: Any) -> Any:
    for _ in range(2):
        apart = m[None] - m[:, None]
        squared = np.sum(apart * apart, axis=2) + 0.1
        pull = x / (squared * np.sqrt(squared))
        m += 0.01 * np.sum(pull[:, :, None] * apart, axis=1)
    return 0.5 * np.sum(x * np.sum(m * m, axis=1))


def within_one_another(x: Any, m: Any) -> Any:
    s = 0.3 * x[1]
    y = x * np.sum(x * np.sum(m * x[:, None] * s, axis=1) + m, axis=0) - np.mean(x * m, axis=1)
    z = np.maximum(np.sum(m * m.T, axis=0), x) * np.sum(np.minimum(m, x) * m, axis=1)
    return np.sum(y * z + np.sum(m + x, axis=-1)) + np.sum(x * np.sum(m + s, axis=0))


def first_received(x: Any, m: Any) -> Any:
    p = m * 0.5
    n = np.tanh(p * m)
    y = x * np.mean(p, axis=0) + x
    return np.sum(n * y)


def shared(x: Any, m: Any) -> Any:
    y = m * x - np.sum(m * x, axis=1, keepdims=True)
    z = np.sum(x * x, axis=0, keepdims=True) * m + x * x
    return np.sum(y * z * m)


def extrema(x: Any, m: Any) -> Any:
    out = np.empty((2, 3))
    for i in range(2):
        out[i] = np.max(m[i : i + 2] * x, axis=0)
        out[:, i] -= np.min(m[:2], 1) * x[i]
    m -= np.max(m, axis=1, keepdims=True)
    p = np.exp(m) / np.sum(np.exp(m), axis=1, keepdims=True)
    return np.sum(p * x) + np.sum(out * np.max(p[:2, None] * out, axis=(0, 1)))


PROGRAMS = [windows, centred, attraction, within_one_another, first_received, shared, extrema]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives_to_second_order(program: Any) -> None:
    check_to_second_order(program, X, M)


@pytest.mark.parametrize(
    "statement",
    [
        lambda m: np.sum(m * m, axis=1) + 1.0,
        lambda m: m - np.mean(m, axis=0, keepdims=True),
        lambda m: np.sum(m * m[0] + np.sum(m * m, axis=0), axis=-1),
        lambda m: np.exp(m - np.max(m, axis=1, keepdims=True)),
    ],
)
def test_a_statement_with_reductions_is_one_entry(statement: Any) -> None:
    ctx = ReverseContext()
    m = M.copy()
    ctx.registry.activate(m)
    ctx.call(statement, m)
    assert len(ctx.tape) == 1


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.sum(x * x, axis=0) * 2.0 + x[0],
        lambda x: np.sum(np.mean(x[:, None] * x, axis=(0, 1)) * x),
        lambda x: np.sum(np.sum(x[:0] * x[:0], axis=0, keepdims=True) + x),
        lambda x: (
            np.sum(np.sum(x[0] * 2.0, axis=()) * x) if False else np.sum(x * x, axis=-1) * 1.0
        ),
    ],
)
def test_what_is_reduced_to_numbers_goes_the_general_way(program: Any) -> None:
    check(program, X)


@pytest.mark.without_modes("no derivative is certain where elements tie")
def test_elements_that_tie_share_a_cotangent() -> None:
    def program(m: Any, w: Any) -> Any:
        return np.sum(w * np.max(m, axis=1))

    m = np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0], [np.nan, 5.0, 5.0], [np.inf, np.inf, 0.0]])
    found = grad(program)(m, np.array([2.0, 3.0, 7.0, 4.0]))
    assert_array_equal(found, [[0, 1, 1], [3, 0, 0], [0, 0, 0], [2, 2, 0]])
    # As many elements tie as there are rows, though not one in each.
    found = grad(program)(m[[0, 2]], np.array([2.0, 7.0]))
    assert_array_equal(found, [[0, 1, 1], [0, 0, 0]])


def test_what_was_reduced_may_change_afterwards() -> None:
    def program(m: Any) -> Any:
        largest = np.max(m * m, axis=0)
        y = np.min(m, axis=0)
        s = np.sum(largest * y)
        m *= -2.0
        largest[0] = 3.0
        y += 1.0
        return s + np.sum(m * largest * y)

    check(program, M)


def test_one_form_serves_shapes_that_are_broadcast_otherwise() -> None:
    def program(x: Any) -> Any:
        s = 0.0
        for y in (x, x[:, None], x[:1], x[None] * x[:, None]):
            s = s + np.sum(np.sum(y * x, axis=0) * y)
        return s

    check(program, X)


@pytest.mark.without_modes("forward mode multiplies an infinite tangent by zero")
def test_zero_cotangents_stay_zero_beside_infinite_slopes() -> None:
    def program(x: Any) -> Any:
        m = np.ones((3, 3))
        m[1:] = np.sum(np.sqrt(x) * m, axis=0)
        return m[0, 0] * np.sum(np.sum(np.sqrt(x) * np.array([0.0, 1.0, 1.0]) * m, axis=1))

    x = np.array([0.0, 4.0, 1.0])
    found = grad(program)(x)
    assert found[0] == 0.0
    assert np.isfinite(found).all()


def test_errors_are_those_of_numpy() -> None:
    def program(x: Any, n: int) -> Any:
        y = x[None] * x[:, None]
        y = y if n else x
        return np.sum(np.sum(y * x, axis=1) * 2.0)

    assert_allclose(grad(program)(X, 1), 2.0 * np.sum(X * X) + 4.0 * X * np.sum(X))
    with pytest.raises(np.exceptions.AxisError, match="axis 1 is out of bounds"):
        grad(program)(X, 0)


def test_tangents_of_what_is_reduced_have_its_shape() -> None:
    def program(m: Any, column: Any) -> Any:
        return np.sum(np.sum(column + np.sum(m * column, axis=1), axis=0) * X)

    column = X[:, None]
    _, slope = jvp(program, (M, column), (M[::-1], None))
    found = grad(program)(M, column)
    assert_allclose(slope, np.sum(found * M[::-1]))


@pytest.mark.without_modes("no derivative is certain where elements tie")
def test_second_derivatives_where_elements_tie() -> None:
    def program(m: Any, w: Any) -> Any:
        y = np.empty(4)
        y[:] = w * np.max(m * m, axis=1)
        return np.sum(y)

    m = np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0], [4.0, -4.0, 4.0], [5.0, 0.5, 0.5]])
    share = np.array([[0, 0.5, 0.5], [1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])
    w, v = np.array([2.0, 3.0, 7.0, 4.0]), np.cos(np.arange(12.0)).reshape(4, 3)
    (found,) = hvp(program, (m, w), (v,), argnums=(0,))
    assert_allclose(found, 2.0 * w[:, None] * share * v, rtol=1e-14)


@pytest.mark.plain
def test_the_tangent_of_an_extremum_is_one_entry_of_the_mode_below() -> None:
    ctx = ReverseContext()
    m, dm = np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]]), np.array([[5.0, 1.0, 2.0], [3, 4, 5]])
    ctx.registry.activate(m)
    found = below(core_of("np.max(a, axis=1)"), frozenset({0}))
    assert found is not None
    assert_array_equal(found.run(ctx, [m], [dm]), [1.5, 3.0])
    ctx.registry.activate(dm)
    found.run(ctx, [m], [dm])
    assert len(ctx.tape) == 1


def test_tangents_of_extrema_pass_over_what_is_smaller() -> None:
    def program(m: Any, w: Any) -> Any:
        return np.max(m * w, axis=1)

    _, found = jvp(program, (M, X), (np.where(M * X > 1.4, 1.0, np.inf), None))
    assert_array_equal(found, [0.7, np.inf, 0.8])
