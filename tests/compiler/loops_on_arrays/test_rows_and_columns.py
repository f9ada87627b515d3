"""A row of a matrix becomes a column of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from tests.compiler.comparing import agrees, agrees_along, equals_reference

RANDOM = np.random.default_rng(20)
SCALES = RANDOM.uniform(0.5, 1.5, 6)
WIDE = RANDOM.normal(size=(6, 9))


def from_rows(c, x):
    for i in range(len(c) - 1):
        c[i, i : len(c)] *= x[i]
        c[i + 1 : len(c), i] = c[i, i + 1 : len(c)]
    return np.sum(c * c)


def from_columns(c, x):
    for i in range(len(x)):
        c[i:6, i] *= x[i]
        c[i, i:6] = c[i:6, i]
    return np.sum(c * c)


def counted_from_the_end(c, x):
    for i in range(-6, 0):
        c[i, :6] *= x[i]
        c[:6, i] = c[i, :6]
    return np.sum(c * c)


def the_first_row(c, x):
    for i in range(len(x)):
        c[0, :6] *= x[i]
        c[:6, 0] = c[0, :6]
    return np.sum(c * c)


FUNCTIONS = from_rows, from_columns, the_first_row
LAYOUTS = {
    "rows": WIDE,
    "square": WIDE[:, :6].copy(),
    "columns": np.asfortranarray(WIDE),
    "backwards": WIDE[::-1, ::-1],
}


@pytest.mark.parametrize("c", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_values_and_derivatives(f, c):
    agrees(f, c, SCALES)
    agrees_along(f, (c, SCALES), (RANDOM.normal(size=c.shape), RANDOM.normal(size=6)))


def test_those_counted_from_the_end_may_cross():
    equals_reference(counted_from_the_end, WIDE, SCALES)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_of_memory_that_is_shared_by_rows(f):
    memory = RANDOM.normal(size=40)
    equals_reference(lambda x: f(as_strided(memory.copy(), (6, 9), (24, 8)), x), SCALES)
