"""What the items of a list have in one place, as something that a counter tells.

[3, 5, 7]               3 + 2 * i
[x[0], x[1], x[2]]      x[i]
[a, b, c]               column[i], where a, b and c are stored before the loop
[(a, p), (b, q)]        a tuple of such
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from mooncake_py.compiler.native.building import narrow, operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    ComplexArray,
    Index,
    Known,
    Number,
    Object,
    Tuple,
    Unfit,
    Value,
    names_as_index,
)
from mooncake_py.compiler.native.regions.linear import linear, minus, plus, times
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Assign, Const, Expr, Load, Name, parts_of, rebuilt
from mooncake_py.syntax.nodes import Place

__all__ = [
    "Column",
    "Different",
    "are_mixed",
    "array_at",
    "at_row",
    "number_at",
    "of_arrays",
    "of_numbers",
    "period_of",
    "ranks_of",
    "stored_rows",
]

Column = Callable[[], Value]
"""Reads the item of the pass that a loop is in."""
DIFFERENT = "items of a list that are not of one kind"


class Different(Unfit):
    """Raised for items of a list that are not of one kind."""

    def __init__(self, values: Sequence[Value], place: Place | None) -> None:
        super().__init__(DIFFERENT, place)
        self.values = values


def period_of(values: Sequence[Value]) -> int:
    """Return how many items follow one another before their kinds begin again."""
    kinds = [kind_of(v) for v in values]
    count = len(kinds)
    steps = [n for n in range(1, count + 1) if count % n == 0]
    return next(n for n in steps if all(kinds[k] == kinds[k - n] for k in range(n, count)))


def kind_of(value: Value) -> tuple[Any, ...]:
    """Return the features that items must have in common."""
    match value:
        case Number():
            return "number", value.kind, value.narrow
        case Array():
            return "array", value.kind, len(value.shape)
        case Tuple(items=items):
            return "tuple", value.is_list, value.cls, *map(kind_of, items)
        case Object(cls=cls):
            return "object", cls
        case Known():
            return "known", value
    return "other", id(value)


def at_row(exprs: Sequence[Expr], at: Expr) -> Expr | None:
    """Return an expression that is each of some in its turn, if they differ in steps of ints."""
    first, *others = exprs
    if all(e == first for e in others):
        return first
    if any(type(e) is not type(first) for e in others):
        return None
    if isinstance(first, Const):
        values = [e.value for e in exprs if isinstance(e, Const)]
        if any(type(v) is not int for v in values):
            return None
        step = values[1] - values[0]  # type: ignore[operator]
        if any(v != values[0] + k * step for k, v in enumerate(values)):  # type: ignore[operator]
            return None
        return plus(Const(values[0]), times(Const(step), at))
    if isinstance(first, Load):
        if any(e.array != first.array for e in others if isinstance(e, Load)):
            return None
    elif linear(first).parts:
        differences = [minus(e, first) for e in exprs]
        if all(isinstance(d, Const) for d in differences):
            step = at_row(differences, at)
            return None if step is None else plus(first, step)
        return None
    elif type(first) is Name:
        return None
    parts = [at_row(column, at) for column in zip(*map(parts_of, exprs), strict=True)]
    if not parts or None in parts:
        return None
    return rebuilt(first, tuple(parts))  # type: ignore[arg-type]


def are_mixed(b: Builder, numbers: Sequence[Number]) -> bool:
    """Return True for floats and ints of which only ranks tell the types."""
    if len({x.type for x in numbers}) == 1 and all(x.rank is None for x in numbers):
        return False
    if any(x.narrow or (x.kind != FLOAT and x.type != "int") for x in numbers):
        raise Different(numbers, b.place)
    if all(x.kind == INT for x in numbers):
        raise Different(numbers, b.place)
    return True


def as_floats(b: Builder, numbers: Sequence[Number]) -> Sequence[Number]:
    """Return numbers as floats that know which of them are ints, if only some are."""
    if len({x.kind for x in numbers}) == 1:
        return numbers
    ranks = ranks_of(b, numbers)
    return [
        Number(narrow.as_float64(x), "float64", rank.e)
        for x, rank in zip(numbers, ranks, strict=True)
    ]


def ranks_of(b: Builder, numbers: Sequence[Number]) -> list[Number]:
    """Return the ranks of numbers, which tell their types."""
    return [Number(narrow.rank_of(b, x), "int") for x in numbers]


def of_numbers(numbers: Sequence[Number], at: Expr) -> Expr | None:
    """Return an element of memory, or an int, that is each of some numbers in its turn."""
    exprs = [x.e for x in numbers]
    if isinstance(exprs[0], Load) or numbers[0].kind == INT or len(set(exprs)) == 1:
        return at_row(exprs, at)
    return None


def of_arrays(arrays: Sequence[Array], at: Expr) -> Array | None:
    """Return a view of memory that is each of some in its turn."""
    first = arrays[0]
    if not first.base or any(a.base != first.base or a.shape != first.shape for a in arrays):
        return None
    probe = names_as_index(tuple([f"probe{axis}" for axis in range(len(first.shape))]))
    if at_row([a.at(probe) for a in arrays], at) is None:
        return None

    def element(index: Index) -> Expr:
        found = at_row([a.at(index) for a in arrays], at)
        assert found is not None
        return found

    return Array(first.shape, first.kind, element, first.base, frozen=True)


def stored_rows(b: Builder, values: Sequence[Value]) -> Array:
    """Store numbers or arrays of one shape in new memory, one after another."""
    first = values[0]
    n = Const(len(values))
    if isinstance(first, Number):
        found = b.new((n,), first.kind)
        for k, x in enumerate(values):
            assert isinstance(x, Number)
            store_number(b, Load(found.base, (Const(k),)), x)
        return found
    assert isinstance(first, Array)
    found = b.new((n, *first.shape), first.kind)
    for k, a in enumerate(values):
        assert isinstance(a, Array)
        store_array(b, array_at(found, Const(k)), a)
    return found


def store_number(b: Builder, target: Load, x: Number) -> None:
    """Store a number in an element."""
    e = operations.as_element(b, x)
    e = operations.as_float(e) if x.kind == FLOAT else e
    b.add(Assign(target, e, place=b.place))


def store_array(b: Builder, target: Array, a: Array) -> None:
    """Store an array in memory for one of its shape."""
    if isinstance(a, ComplexArray) or a.kind != target.kind or len(a.shape) != len(target.shape):
        raise Unfit(DIFFERENT, b.place)
    for n, m in zip(a.shape, target.shape, strict=True):
        b.check("eq", n, m)
    b.store(target, a.at)


def array_at(found: Array, k: Expr) -> Array:
    """Return an array that is stored with others, not to be written."""
    return Array(
        found.shape[1:],
        found.kind,
        lambda index: found.at((k, *index)),
        found.base,
        frozen=True,
    )


def number_at(b: Builder, load: Expr, type_: str) -> Number:
    """Return a number that is stored with others."""
    return Number(b.counted(load) if type_ in ("int", "int64") else load, type_)


def are_alike(values: Sequence[Value]) -> bool:
    """Return True for tuples, or lists, of one length and class."""
    kinds = {(len(t.items), t.is_list, t.cls) for t in values if isinstance(t, Tuple)}
    return len(kinds) == 1


def bare(value: Tuple, items: Sequence[Value]) -> Tuple:
    """Return a tuple or a list of other items, that is not to be changed."""
    return replace(value, items=tuple(items), name="", place=None, has_slots=False, is_passed=False)


def the_same(b: Builder, values: Sequence[Value]) -> Value:
    """Return the thing that all items are; raise if they are different things."""
    first = values[0]
    if isinstance(first, Cells):
        raise Unfit(f"items of a list that are {said(first)}", b.place)
    if all(v is first or (isinstance(v, Known) and v == first) for v in values):
        return first
    raise Different(values, b.place)
