"""Lists of arrays, or of tuples of arrays and numbers, that a loop makes: each part in one vector.

    out = []                        out = array(16)             at the beginning
    for k in range(n):              count = 0
        u = step(u)                 for k in range(n):
        out.append((k * h, u))          u = step(u)
                                        times[count] = k * h
                                        for j in range(m):
                                            states[count * m + j] = u[j]
                                        count = count + 1
    out[-1][1]                      states[(count - 1) * m : count * m]

An item is a copy here, where it is the very array in Python: neither may be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import sliced
from mooncake_py.compiler.native.building.values import (
    KINDS,
    Array,
    Cells,
    Choice,
    ComplexArray,
    Known,
    Number,
    Slice,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import growing, lists, ragged
from mooncake_py.compiler.native.reading.merging import Before
from mooncake_py.compiler.native.regions.linear import LARGE, ONE, flat, minus, plus, size_of, times
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
from mooncake_py.compiler.regions.ir import Alloc, Assign, Const, Count, Expr, Grow, Load, Name

__all__ = [
    "appended",
    "form_of",
    "has_lists",
    "has_only_ints",
    "item",
    "item_at",
    "made",
    "memory",
    "now",
    "part",
    "started",
]

Form = tuple[Any, ...]
TUPLES = "tuple", "list"
NONE = Known(None)


def form_of(b: Builder, value: Value) -> Form:
    """Return the form of the items of a list, given one: nested tuples.

    Raises
    ------
    Unfit
        For an item that cannot be put into vectors.
    """
    match value:
        case Number(rank=None) if value.kind in (FLOAT, INT):
            return "number", value.type
        case Cells(type=type_) if type_:
            return "cells", type_
        case ComplexArray():
            pass
        case Array():
            if value.kind != BOOL:
                return "array", value.kind, len(value.shape)
        case Tuple(items=items) if not value.has_slots:
            kind = "list" if value.is_list else "tuple"
            return kind, value.cls, tuple([form_of(b, item) for item in items])
        case Known() if value.never_changes:
            return "known", value
    raise Unfit(f"a list of {said(value)} that a loop makes: use numbers and arrays", b.place)


def kinds_in(form: Form) -> Iterator[str]:
    """Yield the kinds of the numbers and arrays in an item."""
    if form[0] == "number":
        yield INT if form[1] in ("int", "int64") else FLOAT
    elif form[0] == "cells":
        yield KINDS[form[1]]
        yield INT
    elif form[0] == "array":
        yield form[1]
    elif form[0] in TUPLES:
        for part in form[2]:
            yield from kinds_in(part)


def has_lists(form: Form) -> bool:
    """Return True for items that are lists, or tuples of such."""
    return form[0] in ("list", "cells") or (form[0] == "tuple" and any(map(has_lists, form[2])))


def has_only_ints(form: Form) -> bool:
    """Return True for items that are ints, or tuples of ints."""
    return form == ("number", "int") or (
        form[0] == "tuple" and all(part == ("number", "int") for part in form[2])
    )


def started(b: Builder, form: Form, is_turned: bool = False) -> Stack:
    """Return an empty list of items of a form, which grows; at its beginning if it is turned."""
    length = b.fresh("n")
    b.kinds[length] = INT
    b.ranges.sizes[length] = LARGE
    bases = tuple([growing.room(b, b.fresh("g"), kind).base for kind in kinds_in(form)])
    b.add(Count(length, Const(0), place=b.place))
    for _, ends in ragged.pairs_in(form, iter(bases)):
        if is_turned:
            raise Unfit("a list of lists to which a loop appends at the beginning", b.place)
        ragged.started(b, ends)
    b.frozen = {}
    return Stack(form, bases, Const(0), length, {}, b.loops, is_turned=is_turned)


def now(b: Builder, made: Stack) -> Stack:
    """Return a list as long as it is now."""
    if not made.count:
        return made
    n = b.steady(Name(made.count))
    if isinstance(n, Name):
        b.ranges.natural.add(n.name)
    return replace(made, length=n)


def appended(b: Builder, made: Stack, value: Value, before: Before) -> None:
    """Put an item at the end of a list.

    Parameters
    ----------
    before : Before
        What is known where the list was made, or before the loops that are entered since.
    """
    if form_of(b, value) != made.form:
        raise Unfit(f"a list that gets {said(value)} together with other items", b.place)
    n = b.counted(Name(made.count))
    b.ranges.natural.add(n.name)
    bases = iter(made.bases)
    put(b, made, value, bases, n, before, grows=True)
    b.add(Count(made.count, plus(n, ONE), place=b.place))
    b.frozen = {}


def put(
    b: Builder,
    made: Stack,
    value: Value,
    bases: Iterator[str],
    n: Expr,
    before: Before,
    grows: bool = False,
) -> None:
    """Put the parts of an item in the place of a number in their vectors."""
    match value:
        case Tuple(items=items):
            for part in items:
                put(b, made, part, bases, n, before, grows)
        case Number():
            base = next(bases)
            e = operations.as_element(b, value)
            if grows:
                b.add(Grow(base, plus(n, ONE), place=b.place))
            e = operations.as_float(e) if value.kind == FLOAT else e
            b.add(Assign(Load(base, (n,)), e, place=b.place))
        case Cells():
            if not grows:
                raise Unfit("a list of lists in a comprehension: append to a list", b.place)
            ragged.put(b, next(bases), next(bases), n, value)
        case Array(shape=shape):
            base = next(bases)
            known = made.shapes.setdefault(base, shape)
            if known is shape and not before.has(shape):
                raise Unfit(
                    "a list of arrays whose length is known only in the loop that appends them",
                    b.place,
                )
            for m, k in zip(shape, known, strict=True):
                b.check("eq", m, k)
            size = size_of(known)
            if grows:
                b.add(Grow(base, times(plus(n, ONE), size), place=b.place))
            start = times(n, size)
            b.for_all(
                known,
                lambda at: Assign(
                    Load(base, (plus(start, flat(known, at)),)), value.at(at), place=b.place
                ),
            )


def made(b: Builder, value: Value, n: Expr, at: Expr, before: Before) -> Stack:
    """Return the list that a comprehension makes, given its item in a pass, which is put there.

    Its memory is to be made before the loop: see `memory`.
    """
    form = form_of(b, value)
    bases = []
    for kind in kinds_in(form):
        base = b.fresh("b")
        b.kinds[base], b.arrays[base], b.made[base] = kind, 1, b.loops - 1
        bases.append(base)
    found = Stack(form, tuple(bases), n, "", {}, b.loops)
    put(b, found, value, iter(bases), at, before)
    return found


def memory(b: Builder, found: Stack) -> None:
    """Add what makes the memory of a list that a comprehension makes."""
    for base in found.bases:
        size = times(found.length, size_of(found.shapes.get(base, ())))
        b.add(Alloc(base, (size,), b.kinds[base], False, place=b.place))


def item(b: Builder, made: Stack, at: Number) -> Value:
    """Return an item."""
    probe = Array((made.length,), FLOAT, lambda index: Load("", index))
    (place,) = lists.element(b, probe, at).index
    return item_at(b, made, place)


def item_at(b: Builder, made: Stack, place: Expr) -> Value:
    """Return an item that is there."""
    return part_at(b, made, made.form, iter(made.bases), made.place(place))


def part(b: Builder, made: Stack, index: Slice) -> Stack | Cells:
    """Read a slice, a new list of the same items, which does not grow."""
    if index.step != 1:
        raise Unfit("a slice, with a step, of a list that a loop makes", b.place)
    axis = sliced(b, index, made.length)
    first, n = b.steady(axis.first), b.natural(b.steady(axis.extent))
    before = minus(minus(made.length, n), first) if made.is_turned else first
    found = replace(made, length=n, count="", start=plus(made.start, before))
    if made.form[0] == "number":  # a list of numbers may be written
        return Cells(b.kept(found.as_array), made.form[1])
    return found


def part_at(b: Builder, made: Stack, form: Form, bases: Iterator[str], place: Expr) -> Value:
    """Return a part of an item."""
    match form:
        case ("tuple" | "list" as kind, cls, parts):
            items = [part_at(b, made, part, bases, place) for part in parts]
            return Tuple(tuple(items), kind == "list", cls=cls)
        case ("known", value):
            return value
        case ("maybe", inner):
            array = part_at(b, made, inner, bases, place)
            return Choice(b.counted(Load(next(bases), (place,)), "t"), (0, 1), (NONE, array))
        case ("number", type_):
            e = Load(next(bases), (place,))
            return Number(b.counted(e) if type_ in ("int", "int64") else b.number(e), type_)
        case ("cells", type_):
            return ragged.item(b, next(bases), next(bases), place, type_)
    base = next(bases)
    shape = made.shapes.get(base)
    if shape is None:
        raise Unfit("an item of a list that was empty", b.place)
    is_row = form[0] == "row"
    start = times(b.steady(place) if is_row else place, size_of(shape))
    found = Array(
        shape,
        KINDS[form[1]] if is_row else form[1],
        lambda index: Load(base, (plus(start, flat(shape, index)),)),
        base,
        frozen=not is_row,
    )
    return Cells(found, form[1]) if is_row else found
