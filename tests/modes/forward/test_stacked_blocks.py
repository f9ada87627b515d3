"""Tangents of arrays along several directions, and along one from some moment on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.modes.forward.stacked_blocks import StackedBlocks
from mooncake_py.runtime.registry import Registry


def made(directions: int = 3) -> StackedBlocks:
    return StackedBlocks(Registry(RuntimeError), RuntimeError, directions)


@pytest.mark.parametrize("order", ["C", "F"])
def test_views_share_the_rows_of_their_owner(order: Any) -> None:
    blocks, a = made(), np.ones((2, 3), order=order)
    rows = blocks.rows_to_write(a)
    assert rows is not None
    rows[...] = np.arange(18.0).reshape(3, 2, 3)
    part = blocks.rows_of(a[1, ::-1])
    assert part is not None
    np.testing.assert_array_equal(part, rows[:, 1, ::-1])
    part[...] = -1.0
    assert np.all(rows[:, 1] == -1.0)
    assert blocks.rows_of(np.ones(3)) is None
    assert blocks.several


def test_given_and_read_along_one_direction_there_are_still_all() -> None:
    blocks, a = made(), np.ones(2)
    for k in range(3):
        with blocks.along(k):
            blocks.activate(a)[...] = k
    for k in range(3):
        with blocks.along(k):
            np.testing.assert_array_equal(blocks.tangent_of(a), [k, k])
    assert blocks.several


@pytest.mark.parametrize("order", ["C", "F"])
def test_who_asks_for_one_tangent_ends_the_others(order: Any) -> None:
    blocks, a, b = made(), np.ones((2, 3), order=order), np.ones(())
    view = a[:, 1]
    for k in range(3):
        with blocks.along(k):
            blocks.activate(a)[...] = k + np.arange(6.0).reshape(2, 3)
            blocks.activate(b)[...] = k
    rows = blocks.rows_of(view)
    assert rows is not None
    blocks.put(view, rows)
    found = blocks.tangent_of(a)
    assert not blocks.several
    assert found is not None
    assert found.strides == a.strides
    np.testing.assert_array_equal(found, np.arange(6.0).reshape(2, 3))
    part, number = blocks.tangent_of(view), blocks.tangent_of(b)
    assert part is not None
    np.testing.assert_array_equal(part, [1.0, 4.0])
    assert number is not None
    assert number.shape == ()
    found[0, 1] = 9.0
    assert part[0] == 9.0
    np.testing.assert_array_equal(blocks.tangent_of(a[0]), [0.0, 9.0, 2.0])
    assert blocks.activate(np.ones(4)).shape == (4,)


def test_arrays_that_cannot_have_rows() -> None:
    blocks = made()
    gaps = np.ndarray((2, 3), float, bytearray(160), 0, (80, 16))
    wide = np.ones((4, 4))[::2, ::2]
    assert blocks.can_hold(wide)  # its owner has
    assert not blocks.can_hold(np.zeros(3, "f8,f8"))
    assert not blocks.can_hold(np.zeros(3, int))
    assert not blocks.can_hold(gaps)
    assert blocks.rows_to_write(np.zeros(3, int)) is None
    assert blocks.several


def test_what_one_asks_to_write_is_one_tangent() -> None:
    blocks, a = made(), np.ones(2)
    assert blocks.activate(a).shape == (2,)
    assert not blocks.several
