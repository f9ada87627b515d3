"""Long lists of arrays of one shape, some of which may be None: passed as one array.

    zs = [a, None, b, ...]      rows = [a, 0, b, ...], there = [1, 0, 1, ...]

The array is made in each call, as a copy: nothing may write the items meanwhile, and no derivative
is taken with respect to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["are_apart", "rows_of", "shape_and_dtype"]

SHAPE = attrgetter("shape", "dtype")


def shape_and_dtype(items: list[Any]) -> tuple[tuple[int, ...], np.dtype, bool] | None:
    """Return what all arrays in a list are like, and whether there is None too; None if unlike."""
    types = set(map(type, items))
    has_none = type(None) in types
    if types - {type(None)} != {ndarray}:
        return None
    found = set(map(SHAPE, [a for a in items if a is not None] if has_none else items))
    if len(found) > 1:
        return None
    ((shape, dtype),) = found
    return shape, dtype, has_none


def rows_of(
    items: list[Any], shape: tuple[int, ...], dtype: np.dtype, has_none: bool
) -> tuple[ndarray, ndarray] | None:
    """Return the elements of such arrays one after another, and which of them there are.

    None for a list that is not like that; one that may have None need not.
    """
    found = shape_and_dtype(items)
    if found is None or found[:2] != (shape, dtype) or found[2] > has_none:
        return None
    if not found[2]:
        return np.array(items).reshape(-1), np.ones(len(items), int)
    there = np.array([a is not None for a in items])
    rows = np.zeros((len(items), *shape), dtype)
    rows[there] = [a for a in items if a is not None]
    return rows.reshape(-1), there.astype(int)


def are_apart(items: list[Any], arrays: Iterable[Any]) -> bool:
    """Return True for a list of which no array is in the memory of others, for certain."""
    owners = {id(owner_of(a)) for a in items if a is not None}
    return owners.isdisjoint([id(owner_of(a)) for a in arrays if type(a) is ndarray])


def owner_of(a: ndarray) -> Any:
    """Return the object that has the memory of an array."""
    found: Any = a
    while type(found) is ndarray and found.base is not None:
        found = found.base
    return found
