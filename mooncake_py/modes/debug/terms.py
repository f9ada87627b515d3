"""What a sweep adds terms to: numbers, items and arrays, with the sizes of their terms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.sites.site import cells_of
from mooncake_py.modes.debug.beside import copied
from mooncake_py.modes.debug.sized import Sized, SizedCells, size_of, sized
from mooncake_py.tangents.memory import Shadows

__all__ = ["SizedTerms"]


class SizedTerms:
    """Numbers that carry the sizes.

    Parameters
    ----------
    values : Shadows
        What belongs to arrays, which the sweep may change.
    """

    def __init__(self, values: Shadows) -> None:
        self.values = values
        self.sizes = Shadows(lambda own: sizes_of(values.view(own)))

    def number(self, g: Any) -> Sized:
        """Return a number as a term."""
        return sized(g, abs(g))

    def items(self, found: list[float]) -> SizedCells:
        """Return the items of a list as terms, which the sweep may change."""
        return SizedCells(found, list(map(abs, found)))

    def array(self, a: ndarray) -> SizedCells:
        """Return what belongs to an array."""
        return SizedCells(cells_of(self.values.view(a)), cells_of(self.sizes.view(a)))

    def found(self, total: Any) -> tuple[Any, Any]:
        """Return the value and the size of one of the above."""
        if type(total) is SizedCells:
            return total.values, total.sizes
        return total, size_of(total)


def sizes_of(a: ndarray) -> ndarray:
    """Return the absolute values of the real numbers in an array, laid out like it."""
    found = copied(a)
    for part in (np.real(found), np.imag(found)) if found.dtype.kind == "c" else (found,):
        np.abs(part, out=part)
    return found
