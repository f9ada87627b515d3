"""The elements of the arrays of a region: as Python's floats, and put back after a trial."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from mooncake_py.compiler.sites.items import Items

__all__ = ["cells_of", "put_back"]


def cells_of(a: Any) -> Any:
    """Return a reader of the elements of an array by index, as Python's floats if possible.

    The bytes of an owner may lie elsewhere in the words of the machine than those of its shadow.
    """
    if isinstance(a, Items):
        return a.cells
    viewed: Any = a if type(a) is ndarray and a.flags.aligned else None
    return a if viewed is None else memoryview(viewed)


def put_back(arrays: dict[str, Any], before: dict[str, ndarray]) -> None:
    """Put back what arrays held before a trial."""
    for name, old in before.items():
        arrays[name][...] = old
