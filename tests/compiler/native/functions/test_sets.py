"""Functions of NumPy that take arrays of ints as sets."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


class Frame:
    """A frame some parts of which are fixed."""

    def __init__(self, count, fixed):
        self.free = np.setdiff1d(np.arange(count), fixed)
        self.ends = np.union1d(fixed, [3, 1, 3])


def of_known_ints(x, a):
    frame = Frame(4, [0, 2])
    common = np.intersect1d([3, 1, 0], np.arange(1, 4))
    u = np.zeros(4)
    u[frame.free] += a * x[frame.free]
    return u @ x + np.sum(x[frame.ends] ** 2) * a + x[common] @ x[np.unique([1, 0, 1])]


def of_ints_that_depend_on_numbers(x, a):
    free = np.setdiff1d(np.arange(4), np.flatnonzero(x > a))
    return np.sum(x[free]) * a + free[0]


def test_ints_that_are_known(tried):
    require_whole(of_known_ints, tried)


def test_ints_that_are_not():
    require_agreement(of_ints_that_depend_on_numbers)
