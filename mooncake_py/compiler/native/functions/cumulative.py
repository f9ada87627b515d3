"""Products of elements, sums and products up to each element, and differences."""

from __future__ import annotations

from collections.abc import Sequence

from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    keeps_axes,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Unfit, Value
from mooncake_py.compiler.native.functions import reductions
from mooncake_py.compiler.native.regions.region import FLOAT

__all__ = ["cumulated", "floats_in", "product_of_all"]


def floats_in(b: Builder, value: Value | None) -> Array:
    """Return an argument that must be an array of float64."""
    a = array_of(b, value)
    if a.kind != FLOAT:
        raise Unfit(f"a product or a cumulative sum of {said(a)}: use an array of float64", b.place)
    return a


def product_of_all(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.prod(a)``."""
    value, axis, keeps = arranged(b, args, given, "a axis * keepdims")
    a = floats_in(b, value)

    return reductions.reduced(b, "prod", a, axes_in(b, axis, len(a.shape)), keeps_axes(b, keeps))


def cumulated(op: str) -> Reader:
    """Return the reader of ``np.cumsum`` or ``np.cumprod``, by its name."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        value, axis = arranged(b, args, given, "a axis")
        a = floats_in(b, value)
        axes = axes_in(b, axis, len(a.shape), is_one=True)
        if len(axes) != 1:
            raise Unfit("a cumulative sum or product of a matrix", b.place)
        found = b.new(a.shape, FLOAT)
        b.layouts.follow(found, [a])
        b.reduce(op, a.shape, axes, a.at, found.at)
        return found

    return read
