"""Where a Jacobian is not zero, found by products with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.sparse.colouring import coloured

__all__ = ["Pattern", "Products", "compressed", "detected", "directions"]

Products = Callable[[list[ndarray]], list[ndarray]]
"""Products of the matrix with some vectors."""
FIRST = 8
"""Parts of the columns in the first round."""


class Pattern(NamedTuple):
    """The places at which a matrix of some shape may not be zero, by columns, and colours."""

    rows: ndarray
    columns: ndarray
    shape: tuple[int, int]
    colours: ndarray

    @classmethod
    def of(cls, rows: ndarray, columns: ndarray, shape: tuple[int, int]) -> Pattern:
        """Return the pattern of places in any order, which may occur twice."""
        places = np.unique(columns.astype(np.int64) * shape[0] + rows)
        columns, rows = np.divmod(places, shape[0])
        return cls(rows, columns, shape, coloured(rows, columns, shape[1]))

    def joined(self, other: Pattern) -> Pattern:
        """Return the pattern that has the places of both."""
        rows = np.concatenate([self.rows, other.rows])
        return self.of(rows, np.concatenate([self.columns, other.columns]), self.shape)


def directions(parts: ndarray, colours: ndarray, dtype: np.dtype) -> list[ndarray]:
    """Return a vector for each colour: random where the part of an entry has it, else zero."""
    random = np.random.default_rng(0).uniform(0.5, 1.5, parts.size).astype(dtype)
    own = colours[parts]
    return [np.where(own == colour, random, 0.0) for colour in range(number_of(colours))]


def detected(products: Products, rows: int, count: int, dtype: np.dtype) -> Pattern:
    """Return where the matrix is not zero, from products with random vectors.

    In each round the columns are cut into parts half as long, and it is known from the round before
    which rows the larger part meets: parts that share no row are tried in one product.  A banded
    matrix takes a few products in each of ``log2(count)`` rounds; one whose parts meet everything
    takes a product for each column.

    An entry that happens to be zero at the point where the products are taken is not found.
    """
    starts = np.unique(np.linspace(0, count, FIRST + 1).astype(np.int64))[:-1]
    # All rows may meet all parts.
    at = np.tile(np.arange(rows), starts.size), np.repeat(np.arange(starts.size), rows)
    while True:
        whole, part = at
        colours = coloured(whole, part, starts.size)
        if starts.size < count and 2 * number_of(colours) > count:
            starts = np.arange(count)
            at = np.tile(np.arange(rows), count), np.repeat(np.arange(count), rows)
            continue
        sizes = np.diff(np.append(starts, count))
        parts = np.repeat(np.arange(starts.size), sizes)
        vectors = directions(parts, colours, dtype)
        found = np.array(products(vectors)).reshape(len(vectors), rows)
        met = found[colours[part], whole] != 0.0
        whole, part = whole[met], part[met]
        if starts.size == count:
            return Pattern.of(whole, part, (rows, count))
        # Each part becomes two; one of a single column stays one.
        halves = np.stack([starts, starts + (sizes + 1) // 2], axis=1)
        is_there = np.stack([sizes > 0, sizes > 1], axis=1)
        number = np.cumsum(is_there.ravel()).reshape(-1, 2) - 1
        starts = halves[is_there]
        second = is_there[part, 1]
        at = (
            np.concatenate([whole, whole[second]]),
            np.concatenate([number[part, 0], number[part[second], 1]]),
        )


def compressed(pattern: Pattern, dtype: np.dtype) -> list[ndarray]:
    """Return the sum of the unit vectors of each colour."""
    colours = pattern.colours
    return [(colours == colour).astype(dtype) for colour in range(number_of(colours))]


def number_of(colours: ndarray) -> int:
    """Return how many colours there are."""
    return int(colours.max(initial=-1)) + 1
