"""Lists of numbers, as arrays that know the types of their items."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import Part, viewed
from mooncake_py.compiler.native.building.narrow import rank_of
from mooncake_py.compiler.native.building.types import MOST_ITEMS
from mooncake_py.compiler.native.building.values import (
    KINDS,
    RANKS,
    Array,
    Cells,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.linear import times
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Assign, Const, Expr, Load, Name

__all__ = [
    "at_place",
    "between",
    "current",
    "item",
    "like_items",
    "made",
    "makes_structure",
    "now",
    "repeated",
    "write",
]


def repeated(b: Builder, items: Tuple, count: Number, mixed: set[str]) -> Value:
    """Read ``[x] * n``, a list of as many numbers."""
    require_no_deque(b, items)
    if not items.is_list or count.type not in ("int", "int64") or len(items.items) != 1:
        raise Unfit("`*` of a tuple or a list other than [number] * n", b.place)
    (x,) = items.items
    if not isinstance(x, Number) or x.rank is not None or x.kind not in (FLOAT, INT):
        raise Unfit(
            f"a list that repeats {said(x)}: use a number of which the type is known", b.place
        )
    n = b.natural(b.steady(count.e))
    found = made(b, b.new((times(n, Const(1)),), x.kind), x.type, mixed)
    e = operations.as_element(b, x)
    b.for_all(found.shape, lambda at: b.stored(found.array, at, e))
    return found


def require_no_deque(b: Builder, *values: Value) -> None:
    """Raise for a deque, which has no slices, and whose operators make deques."""
    if any(isinstance(v, Deque) for v in values):
        raise Unfit("a slice or an operator of a deque: use `list(d)`", b.place)


def concatenated(b: Builder, x: Value, y: Value) -> Value:
    """Read ``x + y`` of lists, one of which is one of numbers: as many items as are known."""
    items: list[Value] = []
    require_no_deque(b, x, y)
    for v in (x, y):
        if isinstance(v, Tuple):
            items += v.items
            continue
        assert isinstance(v, Cells)
        n = known_length(v)
        if n is None:
            raise Unfit("`+` of a list whose length is known only when it runs", b.place)
        if n > MOST_ITEMS:
            raise Unfit(f"`+` of a list of more than {MOST_ITEMS} numbers: use np.append", b.place)
        items += items_now(b, v, n)
    return Tuple(tuple(items), is_list=True)


def known_length(made: Cells) -> int | None:
    """Return the length of a list of numbers of one type, None if it is not known."""
    n = made.array.shape[0]
    is_known = made.ranks is None and not made.length and isinstance(n, Const)
    return int(n.value) if is_known else None  # type: ignore[union-attr, arg-type]


def items_now(b: Builder, made: Cells, count: int) -> list[Number]:
    """Return the items of a list of so many numbers as they are now."""
    return [b.as_now(item(b, made, Number(Const(k), "int"))) for k in range(count)]


def made(b: Builder, array: Array, type_: str, mixed: set[str]) -> Cells:
    """Return a new list, of which the types of the items vary if that was found out."""
    if array.base not in mixed:
        return Cells(array, type_)
    ranks = b.new(array.shape, INT)
    b.for_all(ranks.shape, lambda at: b.stored(ranks, at, Const(RANKS[type_])))
    return Cells(array, "float64", ranks)


def at_place(b: Builder, items: Tuple, at: Expr) -> Value:
    """Return an item of a tuple."""
    if not isinstance(at, Const) or type(at.value) is not int:
        raise Unfit("an item of a tuple at an index that is not constant: use an array", b.place)
    if not -len(items.items) <= at.value < len(items.items):
        raise Unfit("an item of a tuple that is not there", b.place)
    return items.items[at.value]


def item(b: Builder, cells: Cells, at: Number) -> Number:
    """Return an item."""
    if not cells.type:
        raise Unfit("an item of a list that was empty", b.place)
    e = element(b, cells.array, at)
    if cells.array.kind == INT:
        return Number(b.counted(e), cells.type)
    if cells.ranks is None:
        return Number(e, cells.type)
    return Number(b.number(e), cells.type, b.counted(element(b, cells.ranks, at)))


def element(b: Builder, a: Array, at: Number) -> Load:
    """Return an element of an array."""
    if at.kind != INT:
        raise Unfit(f"a list indexed by {said(at)}: use an int", b.place)
    e: Expr = viewed(b, a, [at]).at(())
    assert isinstance(e, Load)
    return e


def like_items(b: Builder, cells: Cells, value: Value, mixed: set[str]) -> Number:
    """Return a number that may be an item of a list; find out that it is a float of another type.

    A list that is passed has items of one type.
    """
    if not isinstance(value, Number) or value.kind != KINDS.get(cells.type):
        raise Unfit("an item of a list that gets another type", b.place)
    if cells.ranks is None and (value.type != cells.type or value.rank is not None):
        if value.kind != FLOAT or value.narrow or cells.base in mixed | b.lists:
            raise Unfit("an item of a list that gets another type", b.place)
        mixed.add(cells.base)
        raise Again
    return value


def current(b: Builder, value: Value) -> Value:
    """Return a list that grows as long as it is now, and anything else as it is."""
    return now(b, value) if isinstance(value, Cells) else value


def part(b: Builder, cells: Cells, index: Part) -> Cells:
    """Read a slice, which is a new list."""
    if cells.ranks is not None:
        raise Unfit("a slice of a list of floats of Python and of NumPy", b.place)
    return Cells(b.kept(viewed(b, cells.as_array, [index])), cells.type)


def now(b: Builder, cells: Cells) -> Cells:
    """Return a list as long as it is now."""
    if not cells.length:
        return cells
    n = b.steady(Name(cells.length))
    if isinstance(n, Name):
        b.ranges.natural.add(n.name)
    ranks = None if cells.ranks is None else replace(cells.ranks, shape=(n,))
    return replace(cells, array=replace(cells.array, shape=(n,)), ranks=ranks)


def write(b: Builder, cells: Cells, at: Number, value: Value, mixed: set[str]) -> None:
    """Replace an item."""
    value = like_items(b, cells, value, mixed)
    e = operations.as_element(b, value)
    target = element(b, cells.array, at)
    if cells.ranks is not None:
        rank = element(b, cells.ranks, at)
        b.add(Assign(rank, rank_of(b, value), place=b.place))
    b.add(Assign(target, operations.as_float(e) if value.kind == FLOAT else e, place=b.place))


def between(b: Builder, items: Tuple, bounds: Sequence[Expr | None]) -> Tuple:
    """Return a slice of a tuple, whose bounds are written down."""
    found: list[int | None] = []
    require_no_deque(b, items)
    for e in bounds:
        if e is not None and not (isinstance(e, Const) and isinstance(e.value, int)):
            raise Unfit(
                "a slice of a tuple with bounds that are not constant: use an array", b.place
            )
        found.append(None if e is None else int(e.value))  # type: ignore[arg-type]
    return Tuple(items.items[slice(*found)], items.is_list)


MAKING = ast.List | ast.ListComp | ast.BinOp | ast.Dict | ast.DictComp


def makes_structure(node: ast.expr) -> bool:
    """Return True for an expression whose value, if it is a list or a dict, is a new one."""
    return isinstance(node, MAKING) or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    )
