"""Elements and views of arrays, by indices of ints, slices, None, and arrays of ints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mooncake_py.compiler.native.building import masks, operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Index,
    Known,
    Number,
    Slice,
    Unfit,
    Value,
    names_as_index,
)
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, linear, minus, plus, times
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.ir import (
    Check,
    Compare,
    Const,
    Expr,
    Load,
    Name,
    Op,
    Select,
    walk,
)

__all__ = [
    "are_copied",
    "diagonal",
    "flipped",
    "settles_duplicates",
    "sliced",
    "transposed",
    "viewed",
]

Part = Value
"""A part of an index."""
Position = Callable[[Index], Expr]


class Axis(NamedTuple):
    """How an axis of a view goes through one of the array: ``first + step * i``."""

    first: Expr
    step: int
    extent: Expr

    def at(self, i: Expr) -> Expr:
        """Return where an index leads."""
        return plus(self.first, times(Const(self.step), i))


def viewed(b: Builder, a: Array, parts: Sequence[Part]) -> Array:
    """Return a view of an array, of no axes where each is given an int.

    Arrays of ints and masks make it no view but elements that they pick: these have no memory.

    Raises
    ------
    Unfit
    """
    if any(isinstance(part, Array) for part in parts):
        a = b.with_order(a)
    if any(isinstance(part, Array) and not part.shape for part in parts):
        raise Unfit("an array without axes as an index: use an int", b.place)
    if isinstance(a, ComplexArray):
        return a.mapped(lambda part: viewed(b, part, parts))
    lengths = iter(a.shape)
    full = completed(b, parts, len(a.shape))
    found = [one for part in full for one in parts_of_view(b, part, lengths)]
    arrays = [part for part in found if isinstance(part, Array)]
    common = operations.shape_of_all(arrays)
    shape: list[Expr] = []
    start: int | None = None  # of the axes that index arrays have together
    if arrays and are_separated(found):
        shape, start = [*common], 0
    positions: list[Position] = []  # along each axis of `a`
    for part in found:
        if part is None:
            shape.append(ONE)
            continue
        if isinstance(part, Axis):
            positions.append(along(part, len(shape)))
            shape.append(part.extent)
            continue
        if arrays and start is None:
            start = len(shape)
            shape += common
        positions.append(picked(b, part, common, start or 0))

    def at(index: Index) -> Expr:
        return a.at(tuple([position(index) for position in positions]))

    return Array(tuple(shape), a.kind, at, "" if arrays else a.base, frozen=a.frozen)


def completed(b: Builder, parts: Sequence[Part], ndim: int) -> list[Part]:
    """Return an index with slices for ``...``, or at its end, so that no axis is left."""
    ellipses = [k for k, part in enumerate(parts) if is_known(part, ...)]
    rest = ndim + len(ellipses) - sum(map(axes_of, parts))
    if rest < 0 or len(ellipses) > 1:
        raise Unfit("more indices than the array has axes", b.place)
    (at,) = ellipses or [len(parts)]
    return [*parts[:at], *[Slice(None, None, 1)] * rest, *parts[at + 1 :]]


def axes_of(part: Part) -> int:
    """Return how many axes of the array a part of an index takes."""
    if is_known(part, None):
        return 0
    return len(part.shape) if isinstance(part, Array) and part.kind == BOOL else 1


def parts_of_view(
    b: Builder, part: Part, lengths: Iterator[Expr]
) -> Sequence[Axis | Array | Expr | None]:
    """Return how a part of an index goes through the next axes; None for a new axis."""
    if is_known(part, None):
        return [None]
    if isinstance(part, Array) and part.kind == BOOL:
        for n in part.shape:
            b.check("eq", n, next(lengths))
        return masks.places(b, part)
    n = next(lengths)
    if isinstance(part, Slice):
        return [sliced(b, part, n)]
    if isinstance(part, Array) and part.kind == INT:
        if n == ONE and part.shape != (ONE,):
            raise Unfit("an array of ints as the index of an axis of length one", b.place)
        return [in_bounds(b, part, n)]
    if isinstance(part, Number) and part.kind == INT:
        return [element(b, part.e, n)]
    raise Unfit(
        f"{said(part)} as an index: use an int, a slice, an array of ints or a mask", b.place
    )


def are_separated(parts: Sequence[Axis | Array | Expr | None]) -> bool:
    """Return True if slices or new axes stand between ints and arrays of ints.

    The axes of the arrays come first then.
    """
    places = [k for k, part in enumerate(parts) if not (part is None or isinstance(part, Axis))]
    return len(places) <= places[-1] - places[0]


def along(axis: Axis, k: int) -> Position:
    """Return where the index of a view leads, of which one axis goes through one of the array."""
    return lambda index: axis.at(index[k])


def picked(b: Builder, part: Array | Expr, common: Sequence[Expr], start: int) -> Position:
    """Return where the index of a view leads that an int, or an array of ints, tells."""
    if not isinstance(part, Array):
        return lambda index: part
    at = operations.broadcast_to(part, common, b)
    return lambda index: at(index[start : start + len(common)])


def is_known(part: Part, value: object) -> bool:
    """Return True for None, which stands for a new axis, or ``...``."""
    return isinstance(part, Known) and part.value is value


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
    """Return an array of ints as an index, counted from the beginning, each of which is there."""
    known = index if index.base else b.kept(index)

    def checked(at: Index) -> None:
        i = known.at(at)
        b.add(Check(Compare(("le", "lt"), (minus(ZERO, n), i, n)), place=b.place))

    def from_start(at: Index) -> Expr:
        i = known.at(at)
        return Select(Compare(("lt",), (i, ZERO)), plus(i, n), i)

    b.in_order(known.shape, checked)
    return Array(known.shape, INT, from_start)


def settles_duplicates(b: Builder, indices: Sequence[Array]) -> bool:
    """Return True if it is known which of several writes to one element is the last.

    NumPy takes axes in the order in which the arrays of ints have them in memory, and begins at
    their ends where all of them run backwards.
    """
    if len(indices) == 1 and len(indices[0].shape) == 1:
        return True
    return all(runs_forward(b, index) for index in indices)


def are_copied(a: Array, value: Array) -> bool:
    """Return True if NumPy writes a view as if what it reads, of the same memory, was copied first.

    It does so except for vectors that go through memory in one direction by different steps: which
    those of different axes are, such as a row and a column, whose steps their text does not tell.
    """
    if len(a.shape) > 1:
        return True
    steps = [step_of(v) for v in (a, value)]
    if len(value.shape) != 1:
        return False
    match steps:
        case [(axis, first), (other, second)]:
            return axis == other and (first == second or first * second < 0)
    return False


def step_of(a: Array) -> tuple[int, int] | None:
    """Return along which axis of its memory a vector goes alone, and by how many elements."""
    probe = Name("probe0")
    found = a.at((probe,))
    if not isinstance(found, Load):
        return None
    steps = []
    for axis, i in enumerate(found.index):
        if any(part == probe for part in walk(i)):
            parts = dict(linear(i).parts)
            steps.append((axis, parts.pop(probe, 0)))
            if any(part == probe for e in parts for part in walk(e)):
                return None
    return steps[0] if len(steps) == 1 and steps[0][1] else None


def runs_forward(b: Builder, index: Array) -> bool:
    """Return True for an array that is in order in memory, as far as its text tells."""
    if len([n for n in index.shape if n != ONE]) > 1:
        return index.whole and index.base not in b.made  # those that are passed are in order
    if not index.base:  # it is computed, into new memory
        return True
    names = [f"probe{axis}" for axis in range(len(index.shape))]
    found = index.at(names_as_index(tuple(names)))
    assert isinstance(found, Load)
    return all(linear(i).parts.get(Name(n), 0) >= 0 for i in found.index for n in names)


def transposed(b: Builder, a: Array) -> Array:
    """Return an array with its axes the other way round."""
    a = b.with_order(a)
    if isinstance(a, ComplexArray):
        return a.mapped(lambda part: transposed(b, part))
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
        raise Unfit(f"the diagonal of {said(a)}: use a matrix", b.place)
    b.check("eq", a.shape[0], a.shape[1])
    at = a.at
    return Array(a.shape[:1], a.kind, lambda k: at((*k, *k)), a.base, frozen=a.frozen)
