"""Elements and views of arrays, by indices of ints, slices, None, and arrays of ints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mooncake_py.compiler.ir import Compare, Const, Expr, Op, Select
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Index,
    Known,
    Number,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, linear, minus, plus, times
from mooncake_py.compiler.native.regions.region import INT

__all__ = ["Slice", "diagonal", "flipped", "transposed", "viewed"]


class Slice(NamedTuple):
    """``start:stop:step``, None where nothing stands."""

    start: Expr | None
    stop: Expr | None
    step: int


Part = Value | Slice


class Axis(NamedTuple):
    """How an axis of a view goes through one of the array: ``first + step * i``."""

    first: Expr
    step: int
    extent: Expr


def viewed(b: Builder, a: Array, parts: Sequence[Part]) -> Array:
    """Return a view of an array, of no axes where each is given an int.

    Raises
    ------
    Unfit
    """
    if isinstance(a, ComplexArray):
        return a.mapped(lambda part: viewed(b, part, parts))
    count = sum(1 for part in parts if not is_new_axis(part))
    if count > len(a.shape):
        raise Unfit("more indices than the array has axes", b.place)
    full = [*parts, *[Slice(None, None, 1)] * (len(a.shape) - count)]
    shape: list[Expr] = []
    makers: list[tuple[str, int, Axis | Array | None]] = []  # for each axis of `a`
    axis = 0
    gathered = [part for part in full if isinstance(part, Array)]
    if len(gathered) > 1:
        raise Unfit("an index of several arrays", b.place)
    for part in full:
        if is_new_axis(part):
            shape.append(ONE)
            continue
        n = a.shape[axis]
        axis += 1
        if isinstance(part, Slice):
            found = sliced(b, part, n)
            makers.append(("slice", len(shape), found))
            shape.append(found.extent)
        elif isinstance(part, Array):
            if part.kind != INT or len(part.shape) != 1:
                raise Unfit("an index that is no int, no slice and no vector of ints", b.place)
            makers.append(("array", len(shape), in_bounds(b, part, n)))
            shape.append(part.shape[0])
        elif isinstance(part, Number) and part.kind == INT:
            makers.append(("int", 0, Axis(element(b, part.e, n), 0, ONE)))
        else:
            raise Unfit("an index that is no int, no slice and no array of ints", b.place)

    def at(index: Index) -> Expr:
        return a.at(tuple([place(maker, index) for maker in makers]))

    base = "" if gathered else a.base
    return Array(tuple(shape), a.kind, at, base, frozen=a.frozen)


def place(maker: tuple[str, int, Axis | Array | None], index: Index) -> Expr:
    """Return where an index of a view leads, along one axis."""
    _, position, how = maker
    if isinstance(how, Array):
        return how.at((index[position],))
    assert how is not None
    if how.step == 0:
        return how.first
    return plus(how.first, times(Const(how.step), index[position]))


def is_new_axis(part: Part) -> bool:
    """Return True for None, which stands for a new axis."""
    return isinstance(part, Known) and part.value is None


def element(b: Builder, i: Expr, n: Expr) -> Expr:
    """Return the index of an element, counted from the beginning, which must be there."""
    if isinstance(i, Const):
        return from_start(b, i, n, "lt")
    i = b.steady(i)
    if not b.ranges.is_natural(i):
        if is_negative(b, i):
            i = plus(n, i)
            b.natural(i)
            return i
        i = b.counted(Select(Compare(("lt",), (i, ZERO)), plus(i, n), i))
        b.require(Compare(("ge",), (i, ZERO)))
        b.ranges.natural.add(i.name)
    b.check("lt", i, n)
    return i


def from_start(b: Builder, i: Const, n: Expr, op: str) -> Expr:
    """Return an int that is written down, counted from the beginning; it must be ``op`` `n`."""
    assert i.value is not None
    if i.value < 0:
        b.check("le", Const(int(-i.value)), n)
        return plus(n, i)
    b.check(op, i, n)
    return i


def is_negative(b: Builder, e: Expr) -> bool:
    """Return True if an int is below zero for certain."""
    return b.ranges.is_natural(minus(minus(ZERO, e), ONE))


def sliced(b: Builder, s: Slice, n: Expr) -> Axis:
    """Return how a slice goes through an axis; its bounds must lie within."""
    if s.step < 0:
        return backwards(b, s, n)
    start = ZERO if s.start is None else bound(b, s.start, n)
    stop = n if s.stop is None else bound(b, s.stop, n)
    b.check("le", start, stop)
    extent = minus(stop, start)
    if s.step != 1:
        extent = b.steady(Op("floordiv", (plus(extent, Const(s.step - 1)), Const(s.step))))
    return Axis(start, s.step, extent)


def backwards(b: Builder, s: Slice, n: Expr) -> Axis:
    """Return how a slice with a negative step goes through an axis."""
    start = minus(n, ONE) if s.start is None else bound(b, s.start, n)
    if s.start is not None:
        b.check("lt", start, n)
    stop = Const(-1) if s.stop is None else bound(b, s.stop, n)
    b.check("le", stop, start)
    extent = minus(start, stop)
    if s.step != -1:
        extent = b.steady(Op("floordiv", (plus(extent, Const(-s.step - 1)), Const(-s.step))))
    return Axis(start, s.step, extent)


def bound(b: Builder, i: Expr, n: Expr) -> Expr:
    """Return a bound of a slice, counted from the beginning."""
    if isinstance(i, Const):
        return from_start(b, i, n, "le")
    i = b.steady(i)
    if not b.ranges.is_natural(i):
        if is_negative(b, i):
            i = plus(n, i)
        elif looks_negative(i):
            b.require(Compare(("lt",), (i, ZERO)))
            i = plus(n, i)
        b.natural(i)
    b.check("le", i, n)
    return i


def looks_negative(e: Expr) -> bool:
    """Return True for an int that is written as the negative of something: ``x[:-shift]``."""
    found = linear(e)
    return found.constant <= 0 and all(count < 0 for count in found.parts.values())


def in_bounds(b: Builder, index: Array, n: Expr) -> Array:
    """Return an array of ints as an index, each of which must be there and not negative."""
    known = index if index.base else b.kept(index)

    def test(k: Expr) -> Expr:
        i = known.at((k,))
        return Compare(("le", "lt"), (ZERO, i, n))

    b.checked_all(known.shape[0], test)
    return known


def transposed(a: Array) -> Array:
    """Return an array with its axes the other way round."""
    if isinstance(a, ComplexArray):
        return a.mapped(transposed)
    return Array(a.shape[::-1], a.kind, lambda index: a.at(index[::-1]), a.base, frozen=a.frozen)


def flipped(a: Array, axes: Sequence[int]) -> Array:
    """Return an array in the other direction along some axes."""
    if isinstance(a, ComplexArray):
        return a.mapped(lambda part: flipped(part, axes))

    def at(index: Index) -> Expr:
        return a.at(
            tuple(
                [
                    minus(minus(n, ONE), i) if axis in axes else i
                    for axis, (i, n) in enumerate(zip(index, a.shape, strict=True))
                ]
            )
        )

    return Array(a.shape, a.kind, at, a.base, frozen=a.frozen)


def diagonal(b: Builder, a: Array) -> Array:
    """Return the diagonal of a square matrix."""
    if isinstance(a, ComplexArray):
        return a.mapped(lambda part: diagonal(b, part))
    if len(a.shape) != 2:
        raise Unfit("the diagonal of what is no matrix", b.place)
    b.check("eq", a.shape[0], a.shape[1])
    at = a.at
    return Array(a.shape[:1], a.kind, lambda k: at((*k, *k)), a.base, frozen=a.frozen)
