"""Rows: their views, their alignment with values, and operations along each direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.modes.forward.stack import (
    Stack,
    each,
    holds_stack,
    rows_like,
    rows_view,
    stacked,
)
from mooncake_py.runtime.rows import aligned, rows_at

RNG = np.random.default_rng(0)
VIEWS = {
    "part": np.s_[1:, :2],
    "steps": np.s_[::2, ::-1],
    "number": np.s_[1, 2],
    "row": np.s_[2],
    "new axis": np.s_[:, None, 1],
    "rest": np.s_[..., 0],
    "nothing": np.s_[1:1],
    "all": np.s_[...],
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_rows_are_those_of_each_row(name: str, order: Any) -> None:
    owner = np.array(RNG.standard_normal((3, 4)), order=order)
    rows = rows_like(owner, 5)
    assert rows.shape == (5, 3, 4)
    assert rows[0].strides == owner.strides
    rows[...] = RNG.standard_normal(rows.shape)
    view = owner[VIEWS[name]] if name != "number" else owner[1:2, 2:3]
    found = rows_view(rows, owner, view)
    at = rows_at(VIEWS[name] if name != "number" else np.s_[1:2, 2:3])
    np.testing.assert_array_equal(found, rows[at])
    for k in range(5):
        expected = rows[k][VIEWS[name]] if name != "number" else rows[k][1:2, 2:3]
        np.testing.assert_array_equal(found[k], expected)
    assert not view.size or np.shares_memory(found, rows)


def test_real_parts_of_complex_rows() -> None:
    owner = np.zeros((2, 3), complex)
    rows = rows_like(owner, 2)
    rows[...] = RNG.standard_normal(rows.shape) + 1j * RNG.standard_normal(rows.shape)
    np.testing.assert_array_equal(rows_view(rows, owner, owner.imag), rows.imag)
    np.testing.assert_array_equal(rows_view(rows, owner, owner[1].real), rows[:, 1].real)


def test_rows_of_an_array_without_axes() -> None:
    owner = np.array(1.0)
    assert rows_like(owner, 3).shape == (3,)


@pytest.mark.parametrize(
    "i",
    [
        2,
        np.int64(1),
        np.s_[1:],
        np.s_[..., 1],
        (1, None, slice(None)),
        np.array([2, 0, 2]),
        np.array([True, False, True]),
        np.array([[0, 1], [1, 2]]),
    ],
    ids=str,
)
def test_index_of_rows(i: Any) -> None:
    a, rows = np.zeros((3, 4)), RNG.standard_normal((5, 3, 4))
    np.testing.assert_array_equal(rows[rows_at(i)], np.array([row[i] for row in rows]))
    assert rows[rows_at(i)].shape[1:] == a[i].shape


@pytest.mark.parametrize(
    "i", [True, [0, 2], (0, [1, 2]), (np.array([0]), slice(None)), np.array(1), "field"], ids=str
)
def test_what_each_row_must_be_asked_for(i: Any) -> None:
    assert rows_at(i) is None


def test_alignment() -> None:
    rows = RNG.standard_normal((5, 3))
    assert aligned(rows, 1) is rows
    assert aligned(rows, 3).shape == (5, 1, 1, 3)
    assert aligned(rows[:, 0], 2).shape == (5, 1, 1)
    assert aligned(rows[:, None, None], 1).shape == (5, 3)
    value = RNG.standard_normal((2, 3))
    for k, found in enumerate(aligned(rows, 2) * value):
        np.testing.assert_array_equal(found, rows[k] * value)


def test_arguments_along_each_direction() -> None:
    rows, numbers = RNG.standard_normal((2, 3)), np.array([1.0, 2.0])
    given = (Stack(rows, False), [1.0, Stack(numbers, True)], "text", ((None,),))
    assert holds_stack(given)
    assert not holds_stack(given[2:])
    array, (constant, number), *others = each(given, 1)
    np.testing.assert_array_equal(array, rows[1])
    assert (constant, number, *others) == (1.0, 2.0, "text", ((None,),))
    assert type(each(Stack(numbers, False), 0)) is np.ndarray  # of an array without axes


def test_results_along_each_direction() -> None:
    found = stacked([np.ones(2), np.zeros(2)])
    assert (found.rows.shape, found.of_number) == ((2, 2), False)
    found = stacked([np.float32(1), np.float32(2)])
    assert (found.rows.dtype, found.of_number) == (np.float32, True)
    first, second, third = stacked([(1.0, np.ones(2), None), (2.0, np.ones(2), None)])
    assert (list(first.rows), second.of_number, third) == ([1.0, 2.0], False, None)
