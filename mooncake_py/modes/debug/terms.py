"""What a sweep adds terms to: numbers, items and arrays, with the sizes of their terms.

A sweep over numbers and elements runs on numbers that carry the sizes.  One over slices runs on
plain arrays and, where results differ, again with errors in all terms: see `shaken_arrays`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.sites.site import cells_of
from mooncake_py.modes.debug.beside import copied
from mooncake_py.modes.debug.shaken_arrays import ShakenArray, factors
from mooncake_py.modes.debug.sized import Sized, SizedCells, size_of, sized
from mooncake_py.overriding import override
from mooncake_py.tangents.memory import Shadows

__all__ = ["ShakenTerms", "SizedTerms", "Terms"]


class Terms:
    """Plain numbers and arrays, each of which counts as one term.

    Parameters
    ----------
    values : Shadows
        What belongs to arrays, which the sweep may change.
    """

    def __init__(self, values: Shadows) -> None:
        self.values = values

    def number(self, g: Any) -> Any:
        """Return a number as a term."""
        return g

    def items(self, found: list[float]) -> Any:
        """Return the items of a list as terms, which the sweep may change."""
        return found

    def array(self, a: ndarray) -> Any:
        """Return what belongs to an array."""
        return self.values.view(a)

    def found(self, total: Any) -> tuple[Any, Any]:
        """Return the value and the size of one of the above."""
        total = np.asarray(total)
        return total, np.abs(total)


class SizedTerms(Terms):
    """Numbers that carry the sizes; see `Terms`."""

    def __init__(self, values: Shadows) -> None:
        super().__init__(values)
        self.sizes = Shadows(lambda own: sizes_of(values.view(own)))

    @override
    def number(self, g: Any) -> Sized:
        return sized(g, abs(g))

    @override
    def items(self, found: list[float]) -> SizedCells:
        return SizedCells(found, list(map(abs, found)))

    @override
    def array(self, a: ndarray) -> SizedCells:
        return SizedCells(cells_of(self.values.view(a)), cells_of(self.sizes.view(a)))

    @override
    def found(self, total: Any) -> tuple[Any, Any]:
        if type(total) is SizedCells:
            return total.values, total.sizes
        return total, size_of(total)


class ShakenTerms(Terms):
    """Numbers and arrays with errors, which grow with each operation; see `Terms`.

    Parameters
    ----------
    values : Shadows
    random : Generator
    """

    def __init__(self, values: Shadows, random: np.random.Generator) -> None:
        super().__init__(values)
        self.random = random

    @override
    def number(self, g: Any) -> Any:
        return g * factors(self.random)

    @override
    def items(self, found: list[float]) -> list[float]:
        return [self.number(g) for g in found]

    @override
    def array(self, a: ndarray) -> ShakenArray:
        found = super().array(a).view(ShakenArray)
        found.random = self.random
        found *= 1.0
        return found


def sizes_of(a: ndarray) -> ndarray:
    """Return the absolute values of the real numbers in an array, laid out like it."""
    found = copied(a)
    for part in (np.real(found), np.imag(found)) if found.dtype.kind == "c" else (found,):
        np.abs(part, out=part)
    return found
