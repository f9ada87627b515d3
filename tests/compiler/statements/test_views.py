"""Operands that are read through views: ``x.T``, ``np.flip(x[:k])``."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.cores import read, text_of
from tests.compiler.statements.derivatives import check_to_second_order
from tests.support.gradients import check

R = np.array([2.0, 0.75, -0.5, 1.25, 0.25])
M = np.array([[1.5, 0.25, -0.75], [0.5, 2.5, 1.0], [-1.25, 0.75, 0.5]])


def prediction(r: Any, m: Any) -> Any:
    a = np.zeros(4)
    error = r[0]
    for k in range(4):
        reflection = -(r[k + 1] + np.dot(np.flip(r[1 : k + 1]), a[:k])) / error
        a[:k] += reflection * np.flip(a[:k])
        a[k] = reflection
        error *= 2.0 - reflection * reflection
    return error + np.sum(m * m.T)


def transposed(r: Any, m: Any) -> Any:
    m[...] = m.T * 2.0 - np.flip(m)
    m[1:] += m[1:, ::-1] * np.fliplr(m[:2]) + m[:2].T[:2].T[:, :1]
    m -= np.transpose(m) * m
    m += m.T @ m - np.flipud(m) @ np.flip(r[:3])
    r[1:4] *= np.flip(r[2:])
    r[:] = np.flip(r)
    x = r[:, None]
    return np.sum((x.T - x) * (x.T - x)) + np.sum(m.T * m * 0.5)


operations: Any = ModuleType("operations")
operations.flip = np.flip
PROGRAMS = [prediction, transposed]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives_to_second_order(program: Any) -> None:
    check_to_second_order(program, R, M)


@pytest.mark.parametrize(
    "statement",
    [
        lambda m: np.flip(m) * 2.0 - m.T,
        lambda m: np.dot(np.flip(m[0]), m[1]) * 0.5,
        lambda m: m[:2].T @ m[1:],
    ],
)
def test_a_statement_with_views_is_one_entry(statement: Any) -> None:
    ctx = ReverseContext()
    m = M.copy()
    ctx.registry.activate(m)
    ctx.call(statement, m)
    assert len(ctx.tape) == 1


def test_a_view_by_itself_stays_a_view() -> None:
    def program(m: Any) -> Any:
        t, f = m[:2].T, np.flip(m[0])
        f[0] = 3.0
        t *= 2.0
        return np.sum(m * m)

    m = M.copy()
    assert program(m.copy()) == program(m)
    expected = 8.0 * M
    expected[2], expected[0, 2] = 2.0 * M[2], 0.0
    assert_allclose(grad(program)(M.copy()), expected)


class State:
    """Something else that has an attribute of this name."""

    def __init__(self, temperature: Any) -> None:
        self.T = temperature


@pytest.mark.parametrize("temperature", [2.0, np.float64(2.0), np.array([2.0, 3.0])])
def test_attributes_of_that_name_are_read(temperature: Any) -> None:
    def program(x: Any) -> Any:
        state = State(x * temperature)
        y = state.T * 3.0 + state.T
        state.T = np.sum(y)
        return state.T * 1.0 + state.T * x

    assert_allclose(grad(program)(0.5), 4.0 * np.sum(temperature) * 2.0)


def test_numbers_are_their_own_transpose() -> None:
    def program(x: Any) -> Any:
        return np.float64(1.0) * x.T * 2.0 + x.T

    assert grad(program)(np.float64(1.5)) == 3.0


def test_views_of_names_and_slices_are_read() -> None:
    found = read("np.flip(x[1:]) * m.T + x.T")
    assert found is not None
    reader, e = found
    assert text_of(e) == "v0 * v1 + v2"
    assert reader.layout == [(0, 1, False, 0), (2, 3, True, "T"), (0, 3, True, "T")]
    assert read("np.flip(x * 2.0) + x") is None
    assert read("np.flip(x, 0) + x") is None


def test_arguments_are_restored() -> None:
    r, m = R.copy(), M.copy()
    grad(transposed, (0, 1))(r, m)
    assert_array_equal(r, R)
    assert_array_equal(m, M)


def test_views_that_are_written_by_out_go_the_general_way() -> None:
    def program(m: Any) -> Any:
        np.multiply(np.flip(m), m.T, out=np.flip(m))
        np.multiply(m.T, m[0], out=m.T)
        return np.sum(m)

    check(program, M)


def test_a_function_that_made_a_view_when_the_statement_was_read(monkeypatch) -> None:
    def f(r: Any) -> Any:
        r[1:] += 0.2 * operations.flip(r[:4]) * r[1:]
        return np.sum(r * r)

    check(f, R.copy())
    for other in (lambda a: a[::-1] * 1.0, np.cos, np.copy):
        monkeypatch.setattr(operations, "flip", other)
        check(f, R.copy())
