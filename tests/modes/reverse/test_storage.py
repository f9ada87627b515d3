"""Memory that calls use in turns."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from mooncake_py.compiler.native.spares import STACK, Spares
from mooncake_py.modes.reverse.storage import Workspace

U = np.arange(3.0)


def test_copies_and_zeros_are_the_same_arrays() -> None:
    own = Workspace()
    a, d = own.copied("u", U), own.zeros("u", U)
    assert not np.may_share_memory(a, d)
    a += 1.0
    d += 1.0
    assert own.copied("u", U) is a
    assert own.zeros("u", U) is d
    assert_array_equal(a, U)
    assert_array_equal(d, np.zeros(3))
    assert own.zeros("u", U[:2]).shape == (2,)
    assert own.zeros("u", U[:2].astype(np.float32)).dtype == np.float32
    assert own.copied("u", U.astype(int)).dtype == int
    assert own.copied("u", np.ones((3, 2)).T).flags.c_contiguous


def test_what_may_lie_in_zeros_of_before() -> None:
    own = Workspace()
    d = own.zeros("u", U)
    assert own.keeps(d)
    assert own.keeps(d[::-2])
    assert not own.keeps(own.copied("u", U))
    assert not Spares().keeps(d)


def test_the_largest_stack_stays() -> None:
    own = Workspace()
    first = own.stack()
    own.give(STACK, first)
    assert own.stack() is first
    larger = np.empty(2 * first.size)
    own.give(STACK, larger)
    assert own.stack() is larger


def test_results_stay_where_they_are() -> None:
    own = Workspace()
    a, b = np.ones(2), np.zeros(3)
    assert own.kept((a, (b, 1.0)))[0] is a
    again = own.kept((2 * a, (b + 1.0, 2.0)))
    assert again[0] is a
    assert again[1][0] is b
    assert_array_equal(a, [2.0, 2.0])
    assert again[1][1] == 2.0
    assert own.kept((np.ones(4), (b, 1.0)))[0].shape == (4,)
    assert own.kept([a])[0] is a


def test_one_array_in_two_places_becomes_two() -> None:
    own = Workspace()
    a = np.ones(2)
    first, second = own.kept((a, a))
    assert not np.may_share_memory(first, second)
    first, second = own.kept((a + 1.0, a + 2.0))
    assert_array_equal(first, [2.0, 2.0])
    assert_array_equal(second, [3.0, 3.0])
    whole = np.zeros(4)
    view, rest = Workspace().kept((whole[:3], whole[1:]))
    assert not np.may_share_memory(view, rest)
