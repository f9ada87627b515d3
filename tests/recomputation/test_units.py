"""Which parts of a structure are one variable, and unit directions in which they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from mooncake_py.jacobian_blocks import collect
from mooncake_py.recomputation.units import unit_parts, variables_in

X = np.array([0.3, -1.2, 0.7])
SHARED = [3.0]
PAIR = (2.0, 5.0)


def parts_of(value: Any, k: int, i: int = 0) -> list[Any]:
    leaves: list[Any] = []
    collect(value, leaves)
    return unit_parts(leaves, variables_in(value), k, i)


def test_parts_of_their_own() -> None:
    assert variables_in([X, 1.0, {"a": (2.0, X[1:].copy())}]) is None
    assert variables_in([X[:2], X[2:], [], "a", 3]) is None
    assert variables_in([np.zeros(0)[1:], 1.0]) is None
    x, number, other = parts_of([X, 1.0, X[1:].copy()], 0, 2)
    assert_array_equal(x, [0.0, 0.0, 1.0])
    assert number == 0.0
    assert_array_equal(other, np.zeros(2))


def test_containers_held_twice() -> None:
    assert parts_of([SHARED, SHARED, 1.0], 0) == [1.0, 1.0, 0.0]
    assert parts_of({"a": SHARED, "b": (SHARED, [3.0])}, 1) == [1.0, 1.0, 0.0]
    assert parts_of([PAIR, [PAIR]], 2) == [1.0, 0.0, 1.0, 0.0]


def test_arrays_that_share_memory() -> None:
    first, second = parts_of([X, X], 1, 1)
    assert_array_equal(first, [0.0, 1.0, 0.0])
    assert_array_equal(second, first)
    first, second = parts_of([X[:2], X[1:]], 0, 1)
    assert_array_equal(first, [0.0, 1.0])
    assert_array_equal(second, [1.0, 0.0])
    first, second = parts_of([X[::-1], X.reshape(3, 1)], 0, 0)
    assert_array_equal(first, [1.0, 0.0, 0.0])
    assert_array_equal(second, [[0.0], [0.0], [1.0]])
    [spread] = parts_of([np.broadcast_to(X[:2], (3, 2))], 0, 2)
    assert_array_equal(spread, [[1.0, 0.0]] * 3)
