"""What gives the elements of an array as Python's floats."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from mooncake_py.compiler.items import Items

__all__ = ["cells_of"]


def cells_of(a: Any) -> Any:
    """Return what gives the elements of an array by their indices, as Python's floats if it can.

    The bytes of an owner may lie elsewhere in the words of the machine than those of its shadow.
    """
    if isinstance(a, Items):
        return a.cells
    viewed: Any = a if type(a) is ndarray and a.flags.aligned else None
    return a if viewed is None else memoryview(viewed)
