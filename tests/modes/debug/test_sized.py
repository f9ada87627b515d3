"""Floats with the size of their terms."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.compiler.sites.site import cells_of
from mooncake_py.modes.debug.sized import SizedCells, size_of, sized

X = sized(3.0, 5.0)
Y = sized(-2.0, 4.0)
RESULTS = {
    "sum": (X + Y, 1.0, 9.0),
    "sum with a float": (X + 1.5, 4.5, 6.5),
    "sum of a float": (1.5 + X, 4.5, 6.5),
    "difference": (X - Y, 5.0, 9.0),
    "difference of a float": (1.0 - X, -2.0, 6.0),
    "product": (X * -2.0, -6.0, 10.0),
    "product of a float": (-2.0 * X, -6.0, 10.0),
    "product of a number of NumPy": (np.float64(-2.0) * X, -6.0, 10.0),
    "quotient": (X / -2.0, -1.5, 2.5),
    "negative": (-X, -3.0, 5.0),
}


@pytest.mark.parametrize("name", RESULTS)
def test_operations(name: str) -> None:
    found, value, size = RESULTS[name]
    assert float(found) == value
    assert size_of(found) == size


def test_comparisons_are_those_of_floats() -> None:
    assert X == 3.0
    assert sized(0.0, 1.0) == 0.0
    assert not sized(0.0, 1.0)
    assert Y < X


def test_elements_are_added_to_in_place() -> None:
    values, sizes = np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]])
    cells = SizedCells(cells_of(values), cells_of(sizes))
    cells[0, 1] -= X
    cells[0, 0] = 0.5
    assert values.tolist() == [[0.5, -1.0]]
    assert sizes.tolist() == [[0.5, 7.0]]
