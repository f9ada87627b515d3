"""Floats that carry the size of the terms in their sum, which bounds their rounding error."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

__all__ = ["Sized", "SizedCells", "size_of", "sized"]


class Sized(float):
    """A float, and the sum of the absolute values of its terms.

    It is meant for cotangents and tangents, which are multiplied by plain floats and added.
    """

    __slots__ = ("size",)
    __array_ufunc__ = None  # that a NumPy number on the left leaves the operation to this class
    size: float

    def __neg__(self) -> Sized:
        return sized(-float(self), self.size)

    def __truediv__(self, other: Any) -> Sized:
        return sized(float(self) / other, self.size / abs(other))


def sized(value: float, size: float) -> Sized:
    """Return a float with the size of its terms."""
    found = Sized(value)
    found.size = size
    return found


def size_of(v: Any) -> float:
    """Return the size of the terms of a number."""
    return v.size if type(v) is Sized else abs(v)


def _define(name: str, f: Callable[..., Any], of_sizes: Callable[..., Any]) -> None:
    """Define an operator, in both orders."""

    def run(self: Sized, other: Any) -> Sized:
        return sized(f(float(self), float(other)), of_sizes(self.size, size_of(other)))

    def reflected(self: Sized, other: Any) -> Sized:
        return sized(f(float(other), float(self)), of_sizes(size_of(other), self.size))

    setattr(Sized, f"__{name}__", run)
    setattr(Sized, f"__r{name}__", reflected)


_define("add", operator.add, operator.add)
_define("sub", operator.sub, operator.add)
_define("mul", operator.mul, operator.mul)


class SizedCells:
    """The elements of an array as floats with sizes, which stand in their own array.

    Parameters
    ----------
    values, sizes : memoryview or list
        Of the same shape.
    """

    def __init__(self, values: Any, sizes: Any) -> None:
        self.values = values
        self.sizes = sizes

    def __getitem__(self, i: Any) -> Sized:
        return sized(self.values[i], self.sizes[i])

    def __setitem__(self, i: Any, v: Any) -> None:
        self.values[i] = v
        self.sizes[i] = size_of(v)

    def append(self, v: Any) -> None:
        """Add an item to a list."""
        self.values.append(v)
        self.sizes.append(size_of(v))

    def pop(self) -> Sized:
        """Take the last item of a list away."""
        return sized(self.values.pop(), self.sizes.pop())
