"""Functions that read memory which they have written before: in the order of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
