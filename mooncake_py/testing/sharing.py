"""Parts of values that are one object or share memory, and whether fdata agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooncake_py.tangents.memory import address
from mooncake_py.testing.pairing import cells, holds_nothing
from mooncake_py.testing.structure import Part, children, walk_all

__all__ = ["Link", "memory_conflict", "overlap", "shared_parts"]

Link = tuple[str, str, str]
"""Two paths, and how the values there are connected."""

Shadowed = tuple[str, NDArray[Any], NDArray[Any]]
"""A path, the primal array there and the array of its fdata."""


def overlap(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return whether two arrays have memory in common."""
    return bool(np.may_share_memory(a, b) and np.shares_memory(a, b))


def shared_parts(roots: Iterable[Part]) -> list[Link]:
    """Return all pairs of parts that are one mutable object, or overlapping arrays."""
    links: list[Link] = []
    first: dict[int, tuple[str, Any]] = {}
    arrays: list[tuple[str, NDArray[Any]]] = []
    for path, value in walk_all(roots, by_value=True):
        if issubclass(type(value), np.ndarray):
            links.extend(_array_links(path, value, arrays))
            arrays.append((path, value))
        elif issubclass(type(value), (list, dict)) or (children(value) and not _by_value(value)):
            if id(value) in first:
                links.append((first[id(value)][0], path, "the same object"))
            else:
                first[id(value)] = (path, value)
    return links


def _by_value(value: Any) -> bool:
    return issubclass(type(value), tuple)


def _array_links(
    path: str, value: NDArray[Any], arrays: list[tuple[str, NDArray[Any]]]
) -> Iterator[Link]:
    for other_path, other in arrays:
        if value is other:
            yield other_path, path, "the same array"
        elif overlap(value, other):
            offset = address(value) - address(other)
            yield other_path, path, f"a view {offset} bytes on, with strides {value.strides}"


def memory_conflict(pairs: Iterable[tuple[str, Any, Any]]) -> Link | None:
    """Return the first two arrays whose fdata do not overlap as the arrays themselves do.

    Parameters
    ----------
    pairs : iterable of (path, primal, fdata)
        The inputs and the output.
    """
    arrays = [found for path, primal, shadow in pairs for found in _arrays(path, primal, shadow)]
    for i, (path, primal, shadow) in enumerate(arrays):
        for other_path, other, other_shadow in arrays[:i]:
            if not _consistent(primal, shadow, other, other_shadow):
                relation = "overlap" if overlap(primal, other) else "do not overlap"
                return other_path, path, f"the arrays {relation}"
    return None


def _arrays(path: str, primal: Any, shadow: Any, depth: int = 0) -> Iterator[Shadowed]:
    if holds_nothing(shadow) or depth > 20:
        return
    if issubclass(type(primal), np.ndarray):
        if issubclass(type(shadow), np.ndarray):
            yield path, primal, shadow
        return
    parts, others = children(primal), children(shadow)
    if len(parts) == len(others):
        for (name, part), (_, other) in zip(parts, others, strict=True):
            yield from _arrays(path + name, part, other, depth + 1)


def _consistent(a: NDArray[Any], da: NDArray[Any], b: NDArray[Any], db: NDArray[Any]) -> bool:
    """Return whether cells shared by `a` and `b` are shared by `da` and `db`, and only those."""
    if not np.may_share_memory(a, b):
        return not overlap(da, db)
    _, in_a, in_b = np.intersect1d(cells(a), cells(b), return_indices=True)
    if in_a.size == 0:
        return not overlap(da, db)
    return bool(np.array_equal(cells(da).ravel()[in_a], cells(db).ravel()[in_b]))
