"""``reshape`` and ``ravel`` of vectors, as views; of what is computed, as copies.

What `ravel` returns of a vector in memory is a view if its elements stand side by side, else a
copy.  Where only the run tells, the region is left unless it is as assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    shape_in,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Index,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions.joining import flat_copy
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, linear, minus, plus, times
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Length, Load, Name, Op, walk

__all__ = ["RESHAPING_METHODS", "raveled", "reshaped"]

OF_PYTHON = {FLOAT: "float", INT: "int", BOOL: "bool"}


def raveled(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.ravel(a)``."""
    (value,) = arranged(b, args, given, "a")
    a = array_of(b, value)
    found = vector(b, a)
    if not found.base or len(a.shape) > 1:
        return found
    if found.base not in b.made:
        b.contiguous.add(found.base)  # else nothing is known of the layout of its parts
    step = distance(b, found)
    if step == ONE:
        return found
    (n,) = found.shape
    b.require(Compare(("gt",), (n, ONE)))
    b.require(Compare(("ne",), (step, ONE)))
    return b.kept(found)


def distance(b: Builder, a: Array) -> Expr:
    """Return by how many elements of its memory those of a vector stand apart."""
    probe = Name("probe0")
    found = a.at((probe,))
    assert isinstance(found, Load)
    total: Expr = ZERO
    size: Expr = ONE
    for axis in reversed(range(len(found.index))):
        parts = dict(linear(found.index[axis]).parts)
        total = plus(total, times(Const(parts.pop(probe, 0)), size))
        if any(inner == probe for part in parts for inner in walk(part)):
            raise Unfit("ravel of elements that are picked", b.place)
        size = times(size, length_of(b, found.array, axis))
    return total


def length_of(b: Builder, array: str, axis: int) -> Expr:
    """Return a length of an array in memory."""
    return Length(array, axis)


def reshaped(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.reshape(a, shape)``."""
    a, shape = arranged(b, args, given, "a shape")
    items = shape.items if isinstance(shape, Tuple) else [shape]
    flat = vector(b, array_of(b, a))
    return of_shape(b, flat, lengths_in(b, items, flat.shape[0]))


def reshaped_method(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``a.reshape(*shape)``."""
    a, *shape = args
    items = Tuple(tuple(shape)) if len(shape) != 1 else shape[0]
    return reshaped(b, (a, items), given)


def vector(b: Builder, a: Array) -> Array:
    """Return an array as a vector: a view of what stands together in memory in C order."""
    if isinstance(a, ComplexArray):
        raise Unfit("a complex array in another shape", b.place)
    if len(a.shape) == 1:
        return replace(a, whole=False) if a.base else a  # another object
    if a.base and is_turned(a):
        require_order(b, Array(a.shape[::-1], a.kind, lambda at: a.at(at[::-1]), a.base))
        for n in a.shape:  # else it may be a view
            b.require(Compare(("gt",), (n, ONE)))
    elif a.base:
        return in_line(b, a)
    found = flat_copy(b, (a,), {})
    assert isinstance(found, Array)
    return found


def in_line(b: Builder, a: Array) -> Array:
    """Return a view of a matrix in memory as a vector, which takes all of it, or whole rows."""
    if not (a.whole or is_block(a)):
        raise Unfit("a part of a matrix in another shape: copy it first", b.place)
    require_order(b, a)
    size: Expr = ONE
    for n in a.shape:
        size = times(size, n)

    def at(index: Index) -> Expr:
        (rest,) = index
        places: list[Expr] = []
        for n in reversed(a.shape[1:]):
            places.append(Op("mod", (rest, n)))
            rest = Op("floordiv", (rest, n))
        return a.at((rest, *reversed(places)))

    return Array((size,), a.kind, at, a.base, frozen=a.frozen)


def require_order(b: Builder, a: Array) -> None:
    """Leave the region unless the memory of an array is in C order."""
    needs = b.layouts.of(a)
    if needs is None or b.layouts.is_open:
        raise Unfit("a matrix in another shape that NumPy may keep in another order", b.place)
    b.contiguous |= {name for name in needs | b.layouts.varying if name not in b.made}


def is_block(a: Array) -> bool:
    """Return True for a view of an input that takes whole rows, one after another."""
    probes = [Name(f"probe{axis}") for axis in range(len(a.shape))]
    found = a.at(tuple(probes))
    if not isinstance(found, Load):
        return False
    first = len(found.index) - len(probes)
    own = found.index[first:]
    if first < 0 or linear(own[0]).parts.get(probes[0]) != 1:
        return False
    others = [*found.index[:first], minus(own[0], probes[0])]
    return not any(part in probes for e in others for part in walk(e)) and all(
        own[k] == probes[k] and a.shape[k] == Length(found.array, first + k)
        for k in range(1, len(probes))
    )


def is_turned(a: Array) -> bool:
    """Return True for the transpose of a matrix in memory."""
    probes = Name("probe0"), Name("probe1")
    found = a.at(probes) if len(a.shape) == 2 else None
    return isinstance(found, Load) and found.index == probes[::-1]


def lengths_in(b: Builder, items: Sequence[Value | None], size: Expr) -> list[Expr]:
    """Return the lengths of axes; -1 stands for what is left."""
    rest = [k for k, v in enumerate(items) if isinstance(v, Number) and v.e == Const(-1)]
    if len(rest) > 1:
        raise Unfit("a shape of which several lengths are left open", b.place)
    known = shape_in(b, Tuple(tuple([v for k, v in enumerate(items) if v and k not in rest])))
    product: Expr = ONE
    for n in known:
        product = times(product, n)
    if rest:
        if product == ONE:
            left = size
        else:
            b.require(Compare(("gt",), (product, ZERO)))
            left = b.counted(Op("floordiv", (size, product)))
            b.ranges.natural.add(left.name)
        known.insert(rest[0], left)
        product = times(product, left)
    b.check("eq", product, size)
    return known


def of_shape(b: Builder, a: Array, shape: Sequence[Expr]) -> Array:
    """Return a view of a vector with several axes."""
    if len(shape) == 1:
        return a
    if not shape:
        raise Unfit("an array without axes", b.place)

    def at(index: Index) -> Expr:
        place: Expr = ZERO
        for n, i in zip(shape, index, strict=True):
            place = plus(times(place, n), i)
        return a.at((place,))

    return Array(tuple(shape), a.kind, at, a.base, frozen=a.frozen)


def only_element(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``a.item()``, a number of Python; the array must have one element."""
    (value,) = arranged(b, args, given, "a")
    a = array_of(b, value)
    if isinstance(a, ComplexArray) or a.kind not in OF_PYTHON:
        raise Unfit(f"`item` of {said(a)}", b.place)
    for n in a.shape:
        b.check("eq", n, ONE)
    e = a.at((ZERO,) * len(a.shape))
    return Number(b.counted(e) if a.kind == INT else e, OF_PYTHON[a.kind])


RESHAPING_METHODS: dict[str, Reader] = {"item": only_element, "reshape": reshaped_method}
