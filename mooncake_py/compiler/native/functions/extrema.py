"""Largest and smallest elements, and where they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    keeps_axes,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import Array, Number, Unfit, Value
from mooncake_py.compiler.native.functions.reductions import reduced
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.ir import Expr

__all__ = ["extremum", "first_extreme", "in_memory", "place_of_extremum"]


def extremum(op: str) -> Reader:
    """Return the reader of ``np.max`` or ``np.min``, by its name."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        given_a, axis, keeps = arranged(b, args, given, "a axis * keepdims")
        a = in_memory(b, given_a)
        axes = axes_in(b, axis, len(a.shape))
        require_some(b, a, axes)
        return reduced(b, op, a, axes, keeps_axes(b, keeps))

    return read


def place_of_extremum(op: str) -> Reader:
    """Return the reader of ``np.argmax`` or ``np.argmin``, by its name."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        given_a, axis = arranged(b, args, given, "a axis")
        a = in_memory(b, given_a)
        axes = axes_in(b, axis, len(a.shape), is_one=True)
        require_some(b, a, axes)
        return reduced(b, op, a, axes, kind=INT)

    return read


def first_extreme(b: Builder, op: str, a: Array) -> Expr:
    """Return the first extreme element of a vector, by the name of what tells its place."""
    require_some(b, a, (0,))
    place = reduced(b, op, a, (0,), kind=INT)
    assert isinstance(place, Number)
    return a.at((place.e,))


def in_memory(b: Builder, value: Value | None) -> Array:
    """Return an array of numbers, with its elements computed."""
    a = array_of(b, value)
    if a.kind == BOOL:
        raise Unfit("an extremum of bools: use np.any or np.all", b.place)
    return a if a.base else b.kept(a)


def require_some(b: Builder, a: Array, axes: Collection[int]) -> None:
    """Leave the region unless there are elements along some axes."""
    for axis in axes:
        b.check("lt", ZERO, a.shape[axis])
