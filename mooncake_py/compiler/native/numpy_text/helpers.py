"""The functions that printed code calls, besides those of NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.regions import systems

__all__ = [
    "LEAVING",
    "SYSTEMS",
    "Leave",
    "Saved",
    "added_at",
    "cells",
    "divided",
    "grown",
    "memory_of",
    "over",
    "power",
    "put_back",
    "times",
]


class Leave(Exception):
    """A check failed: the region is left."""


LEAVING = (Leave, ArithmeticError, ValueError, IndexError)
"""The exceptions raised where Python, too, is stricter than machine code."""


class Saved(list[Any]):
    """Values saved by a forward sweep, in memory that a later one uses again.

    Attributes
    ----------
    buffers : list of ndarray
        The copies of large arrays, which no one else has.
    used : int
        How many of them are in use.
    copied : int
        The bytes of the copies of small ones.
    """

    def __init__(self, saved: Iterable[Any] = ()) -> None:
        super().__init__(saved)
        self.buffers: list[ndarray] = []
        self.used = 0
        self.copied = 0

    @property
    def nbytes(self) -> int:
        """The bytes of the memory that is kept."""
        return POINTER * len(self) + self.copied + sum([a.nbytes for a in self.buffers])

    def save(self, a: ndarray) -> None:
        """Save a copy of a part of an array.

        New memory is handed out page by page when it is touched, which takes longer than to copy.
        """
        if a.size < LARGE:
            self.append(a.copy())
            self.copied += a.nbytes
            return
        k = self.used
        self.used += 1
        if k < len(self.buffers):
            copy = self.buffers[k]
            if copy.shape == a.shape and copy.dtype == a.dtype:
                np.copyto(copy, a)
                self.append(copy)
                return
        copy = a.copy()
        self.buffers[k : k + 1] = [copy]
        self.append(copy)

    def again(self) -> Saved:
        """Return it empty, for another forward sweep."""
        self.clear()
        self.used = self.copied = 0
        return self


POINTER = 8  # bytes
LARGE = 8192  # numbers in arrays whose memory is used again


def cells(a: ndarray, passes: int) -> list[Any] | memoryview:
    """Return the elements of a vector, as a list if there are as many passes over single ones.

    Reading and writing them takes half the time then, and to make it and to put it back takes as
    long as one pass gains.  Loops often leave out the ends.
    """
    return a.tolist() if a.size <= passes + 2 else memory_of(a)


def memory_of(a: ndarray) -> memoryview:
    """Return the elements of an array in its memory.

    Arrays over memory of `ctypes` name the order of its bytes, which `memoryview` does not read.
    """
    named = a.dtype.byteorder in "<>"
    return memoryview(a.view(a.dtype.newbyteorder("=")) if named else a)  # type: ignore[arg-type]


def put_back(a: ndarray, found: list[Any] | memoryview) -> None:
    """Write the elements of a vector to it."""
    if type(found) is list:
        a[:] = found


def power(x: float, p: float) -> float:
    """Return a power, which NumPy defines where Python raises or has a complex number."""
    try:
        found = x**p
    except (ZeroDivisionError, OverflowError):
        return float(np.power(float(x), float(p)))
    return math.nan if type(found) is complex else found


def divided(a: float, b: float) -> float:
    """Return a quotient as NumPy has it."""
    return a / b if b else float(np.divide(a, b))


def times(d: Any, p: Any) -> Any:
    """Return multiples of cotangents, zero where these are."""
    return np.where(d == 0.0, 0.0, d * p)


def over(d: Any, p: Any) -> Any:
    """Return cotangents over numbers, zero where the cotangents are."""
    return np.where(d == 0.0, 0.0, d / p)


def added_at(a: ndarray, index: Any, values: Any) -> None:
    """Add to elements, of which some may be the same."""
    np.add.at(a, index, values)


def grown(a: ndarray, least: int) -> ndarray:
    """Return an array with room for so many elements, the first of which stay."""
    if least <= a.size:
        return a
    more = np.empty(max(least, 2 * a.size), a.dtype)
    more[: a.size] = a
    return more


# Systems of equations.


def solved(y: ndarray, a: ndarray, b: ndarray) -> bool:
    """Solve a system."""
    try:
        y[...] = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return False
    return True


def transposed(y: ndarray, a: ndarray, b: ndarray) -> bool:
    """Solve the system of the transposed matrix."""
    return solved(y, a.T, b)


def lower(y: ndarray, a: ndarray, b: ndarray) -> bool:
    """Solve the system of a lower triangle."""
    return solved(y, np.tril(a), b)


def lower_transposed(y: ndarray, a: ndarray, b: ndarray) -> bool:
    """Solve the system of a transposed lower triangle."""
    return solved(y, np.tril(a).T, b)


def factored(low: ndarray, a: ndarray) -> bool:
    """Find the Cholesky factor."""
    try:
        low[...] = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return False
    return True


def factored_back(d: ndarray, low: ndarray, d_low: ndarray) -> bool:
    """Add the cotangent of a matrix, given that of its Cholesky factor."""
    half = np.tril(low.T @ np.tril(d_low))
    half[np.diag_indices_from(half)] *= 0.5
    inner = np.linalg.solve(low.T, half + half.T)
    whole = np.tril(np.linalg.solve(low.T, inner.T))
    whole[np.diag_indices_from(whole)] *= 0.5
    d += whole
    return True


def determined(d: ndarray, a: ndarray) -> bool:
    """Find the determinant, which must not be zero."""
    d[0] = np.linalg.det(a)
    return bool(d[0] != 0.0)


def cofactors(c: ndarray, a: ndarray, d: ndarray) -> bool:
    """Find the derivatives of a determinant, which is known."""
    c[...] = np.linalg.inv(a).T * d[0]
    return True


SYSTEMS: dict[Any, Callable[..., bool]] = {
    systems.solve: solved, systems.solve_transposed: transposed, systems.solve_lower: lower,
    systems.solve_lower_transposed: lower_transposed, systems.cholesky: factored,
    systems.cholesky_back: factored_back, systems.determinant: determined,
    systems.cofactors: cofactors,
}  # fmt: skip
"""Functions that compute arrays in place of text meant for compilers."""
