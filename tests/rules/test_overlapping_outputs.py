"""Functions that read memory which they have written before: in the order of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from mooncake_py import grad
from mooncake_py.errors import MissingRuleError
from tests.support.gradients import check

X = np.random.default_rng(3).permutation(10) * 1.0
WEIGHTS = np.arange(1.0, 11.0)
SLICES = [
    slice(0, 4), slice(1, 5), slice(0, 8, 2), slice(1, 8, 2), slice(2, 6), slice(9, 1, -2),
    slice(3, None, -1), slice(6, 2, -1), slice(0, 10, 3),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("into", SLICES, ids=str)
@pytest.mark.parametrize("mask", [True, [True, False, True, True]], ids=["all", "some"])
def test_vectors_are_copied_in_turn(into: slice, mask: Any) -> None:
    def copies(x):
        total = 0.0
        for of in SLICES:
            y = x * 2.0
            np.copyto(y[into], y[of], where=np.array(mask))
            total += y @ WEIGHTS
        return total

    check(copies, X)


@pytest.mark.parametrize("axis", [0, 1])
def test_range_is_computed_in_its_output(axis: int) -> None:
    def ranges(x):
        total = 0.0
        for k in range(2):
            m = (x * 3.0).reshape(2, 5)
            row = m[k] if axis == 0 else m[:, k]
            assert np.ptp(m, axis=axis, out=row) is row
            total += m.ravel() @ WEIGHTS
        return total

    check(ranges, X)


WINDOWS = [
    lambda y: sliding_window_view(y, 2, writeable=True),
    lambda y: sliding_window_view(y, 3, writeable=True).T,
    lambda y: sliding_window_view(y[::-1], 3, writeable=True)[::2],
    lambda y: sliding_window_view(y.reshape(2, 5), (2, 2), writeable=True),
    lambda y: as_strided(y, (4, 3), (16, 8)),
    lambda y: as_strided(y, (3, 4), (0, 16)),
    lambda y: as_strided(y, (4, 3), (8, 0)),
    lambda y: as_strided(y[4:], (5,), (0,)),
]
PERMUTING = {
    "sort": lambda z: z.sort(),
    "sort along the first": lambda z: z.sort(axis=0),
    "partition": lambda z: z.partition(1),
    "partition along the first": lambda z: z.partition([0, -1], axis=0),
    "shuffle": lambda z: np.random.default_rng(0).shuffle(z),
    "shuffle along the last": lambda z: np.random.default_rng(1).shuffle(z, axis=-1),
    "shuffle of old": lambda z: np.random.RandomState(0).shuffle(z),
}


@pytest.mark.parametrize("permute", PERMUTING.values(), ids=PERMUTING)
def test_views_that_overlap_themselves_are_put_in_order_in_turn(permute: Any) -> None:
    def in_turn(x, a):
        total = 0.0
        for view in WINDOWS:
            y, constant = x * a, X.copy()
            permute(view(y))
            permute(view(constant))
            total += y @ WEIGHTS + constant @ WEIGHTS * a
        return total

    check(in_turn, X, 1.5)


def test_order_at_random_is_not_written_to_a_view_that_overlaps_itself() -> None:
    def permuted(x):
        y = x * 2.0
        z = sliding_window_view(y, 2, writeable=True)
        np.random.default_rng(0).permuted(z.copy(), axis=1, out=z)
        return y @ WEIGHTS

    with pytest.raises(MissingRuleError, match="overlaps itself"):
        grad(permuted)(X)
