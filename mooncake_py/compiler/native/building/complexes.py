"""Complex numbers and arrays in terms of their real and imaginary parts.

So a complex derivative becomes a real one, and only the reader handles complex numbers.
`complex_operators` has what operators make of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.narrow import (
    as_float,
    as_kind,
    kind_of_all,
    largest,
    rank_of,
)
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    RANKS,
    Array,
    ComplexArray,
    ComplexNumber,
    Index,
    Number,
    Unfit,
    Value,
    complex_array,
    names_as_index,
)
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Load, Name, Op, Select, walk

__all__ = [
    "NOTHING", "Part", "computed", "computed_once", "each", "is_complex", "joined", "number_of",
    "of_one_type", "parts_of", "store",
]  # fmt: skip

Part = Number | Array
NOTHING = Number(Const(0.0), "float")
SIMPLE = 6  # operations of an operand that are done again for each part of a result


def is_complex(*values: Value) -> bool:
    """Return True if one of some values is complex."""
    return any(isinstance(v, ComplexNumber | ComplexArray) for v in values)


def parts_of(b: Builder, v: Value) -> tuple[Part, Part]:
    """Return the real and the imaginary part of a number or an array."""
    if isinstance(v, ComplexNumber | ComplexArray):
        return v.re, v.im
    if not isinstance(v, Number | Array) or v.kind == BOOL:
        raise Unfit(
            f"complex numbers and {said(v)} in one operation: use numbers or arrays of numbers",
            b.place,
        )
    return v, NOTHING


def joined(b: Builder, re: Value, im: Value) -> ComplexNumber | ComplexArray:
    """Return a complex value of these parts, broadcast to one shape and made of one kind."""
    assert isinstance(re, Part)
    assert isinstance(im, Part)
    if isinstance(re, Number) and isinstance(im, Number):
        return ComplexNumber(*of_one_type(b, re, im))
    kind = kind_of_all(b, (re, im))
    kind = FLOAT if kind == INT else kind
    shape = operations.shape_of_all((re, im))
    return complex_array(as_array(b, re, shape, kind), as_array(b, im, shape, kind))


def of_one_type(b: Builder, *numbers: Number) -> list[Number]:
    """Return real numbers as floats of one type, as NumPy promotes them."""
    types = {n.type for n in numbers}
    if any(n.narrow for n in numbers) or BOOL in {n.kind for n in numbers}:
        raise Unfit("a complex number of parts whose type varies", b.place)
    rank: Expr | None = None
    if any(n.rank is not None for n in numbers):
        rank = largest([Const(RANKS["float"]), *(rank_of(b, n) for n in numbers)])
        found = "float64"
    elif not types.isdisjoint({"float64", "int64"}):
        found = "float64"
    else:
        found = "float32" if "float32" in types else "float"
    kind = FLOAT32 if found == "float32" else FLOAT
    if rank is not None and FLOAT32 in {n.kind for n in numbers}:
        raise Unfit("a complex number of parts whose type varies", b.place)
    return [Number(as_float(as_kind(n.e, n.kind, kind)), found, rank) for n in numbers]


def as_array(b: Builder, part: Part, shape: Sequence[Expr], kind: str) -> Array:
    """Return a part as an array of a shape and a kind: a new one, even if nothing is computed."""
    if isinstance(part, Array) and part.shape == tuple(shape) and part.kind == kind:
        return Array(part.shape, kind, part.at)
    at = operations.broadcast_to(part, shape, b)
    return Array(tuple(shape), kind, lambda index: as_float(as_kind(at(index), part.kind, kind)))


def each(b: Builder, f: Callable[..., Expr], *parts: Part) -> Part:
    """Return the result of a function of one element of each part."""
    numbers = [part for part in parts if isinstance(part, Number)]
    if len(numbers) == len(parts):
        strongest = max(numbers, key=lambda n: RANKS.get(n.type, 0))
        return replace(strongest, e=f(*[n.e for n in numbers]))
    return operations.elementwise(b, f, kind_of_all(b, parts), parts)


def computed(b: Builder, part: Part) -> Part:
    """Return a part that several expressions read: computed once, if that is some work."""
    if isinstance(part, Number):
        simple = isinstance(part.e, Const | Name) or part.kind == INT
        return part if simple else replace(part, e=b.number(part.e, part.kind))
    e = part.at(names_as_index(tuple(f"probe{axis}" for axis in range(len(part.shape)))))
    work = sum(isinstance(inner, Op | Call | Select) for inner in walk(e))
    is_slow = any(isinstance(inner, Call) for inner in walk(e))
    return computed_once(b, part) if work > SIMPLE or is_slow else part


def computed_once(b: Builder, part: Part) -> Part:
    """Return a part under a name, or in memory."""
    if isinstance(part, Array):
        found = b.kept(part)
        b.layouts.is_ours(found, part)
        return found
    return replace(part, e=b.number(part.e, part.kind))


# Memory.


def number_of(a: ComplexArray) -> ComplexNumber:
    """Return the number that a complex array without axes is."""
    re, im = (Number(part.at(()), NUMPY_TYPES[part.kind]) for part in a.parts)
    return ComplexNumber(re, im)


def store(
    b: Builder, a: ComplexArray, re: Callable[[Index], Expr], im: Callable[[Index], Expr]
) -> None:
    """Store both parts of all elements, one after the other."""
    probe = names_as_index(tuple(f"probe{axis}" for axis in range(len(a.shape))))
    if not reads_part(im(probe), a.base, 0):
        b.store(a.re, re)
        b.store(a.im, im)
        return
    if reads_part(re(probe), a.base, 1):
        re = b.kept(Array(a.shape, a.re.kind, re)).at
    b.store(a.im, im)
    b.store(a.re, re)


def reads_part(e: Expr, array: str, part: int) -> bool:
    """Return True if an expression may read real (0) or imaginary (1) parts of an array."""
    other = Const(1 - part)
    return any(
        isinstance(inner, Load) and inner.array == array and inner.index[-1] != other
        for inner in walk(e)
    )
