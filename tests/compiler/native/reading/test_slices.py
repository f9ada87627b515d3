"""Slices as values: between brackets of objects, and what `slice` makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4, 1.1, -0.2, 0.6])


class Grid:
    def __init__(self, values):
        self.values = values.copy()
        self.sources = []

    def __getitem__(self, key):
        return 2.0 * self.values[key]

    def __setitem__(self, key, thing):
        if isinstance(thing, Source):
            self.sources.append((key, thing))
        else:
            self.values[key] = thing


class Source:
    def __init__(self, strength):
        self.strength = strength

    def add(self, grid, key):
        grid.values[key] += self.strength


def of_objects(x, n):
    """What is registered is added later, where the bounds led when they were read."""
    grid = Grid(x)
    k = n - 1
    grid[k : k + n] = Source(x[0] ** 2)
    k = 0
    grid[:2] = grid[1:3] * x[3]
    grid[-1] = Source(x[1])
    grid[k:n] += 0.5
    for _ in range(3):
        for key, source in grid.sources:
            source.add(grid, key)
    return np.sum(grid[1:] * x[:-1]) + grid[0]


def of_a_matrix(x, n):
    grid = Grid(np.outer(x, x))
    grid[1 : 1 + n, n:] = x[0]
    rows, last = slice(n), slice(None, -1, 2)
    key = rows, last
    start = 0 if rows.start is None else 1
    inner = grid.values[key]
    inner *= x[1]
    return np.sum(grid[:, ::2] ** 2) * rows.stop + np.sum(grid.values[..., slice(1, 3)]) * start


KEY = slice(1, 4)


def of_constants(x, n):
    key = KEY if n else slice(0, 2)
    return np.sum(x[KEY] ** 2) * np.sum(x[key])


@pytest.mark.parametrize("f", [of_objects, of_a_matrix, of_constants])
def test_slices_are_values(f: Any, tried: list[bool]) -> None:
    for n in (2, 3, 1):
        agrees_compiled(f, tried, X, n)


class Table:
    def __init__(self, x):
        self.x = x

    def __getitem__(self, key):
        return self.x[0] * (key.start or 2) * (key.step or 3)


def test_what_is_no_int_runs_plainly() -> None:
    def f(x, a):
        return Table(x)[a:1] * 2.0

    agrees(f, X, 0.5)
    assert report(f)[0].why == "a slice with a float as a bound: use an int"
