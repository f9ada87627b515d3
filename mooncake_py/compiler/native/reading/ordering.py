"""`sorted` by numbers that are known only when the code runs, of so many items as are known.

    for t, w in sorted(pairs, key=lambda p: p[0]):      keys = [p[0], q[0], ...]
                                                        order = where they are, from the smallest on
                                                        t, w = ts[order[0]], ws[order[0]], ...

Numbers, and tuples of numbers, are taken from arrays; anything else is one of several things.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Cells, Number, Tuple, Unfit, Value
from mooncake_py.compiler.native.reading.conditions import are_alike
from mooncake_py.compiler.native.reading.texts import are_numbers, number_at
from mooncake_py.compiler.native.regions import systems
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Apply, Const, Expr, Op

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.iterables import IterableReader

__all__ = ["sorted_items", "sorted_numbers"]


def sorted_items(
    r: IterableReader, items: Sequence[Value], keys: Sequence[Value], downwards: bool
) -> tuple[Value, ...]:
    """Return items in the order of their keys, of which equal ones keep theirs."""
    numbers = [k for k in keys if isinstance(k, Number) and k.rank is None and k.kind == FLOAT]
    if len(numbers) < len(keys):
        raise Unfit(f"`sorted` by {said(*keys)}: use a key that is a float", r.b.place)
    table = stored(r.b, numbers)
    order = order_of(r.b, table, downwards)
    return tuple([taken(r, items, order, k) for k in range(len(items))])


def stored(b: Builder, numbers: Sequence[Number]) -> Array:
    """Return an array of numbers as they are now."""
    found = b.new((Const(len(numbers)),), numbers[0].kind)
    for k, v in enumerate(numbers):
        b.add(b.stored(found, (Const(k),), operations.as_element(b, v)))
    return found


def order_of(b: Builder, a: Array, downwards: bool) -> Array:
    """Return where the elements of a vector are, from the smallest or the largest on."""
    if downwards:
        a = b.kept(Array(a.shape, a.kind, lambda at, a=a: Op("neg", (a.at(at),))))
    found = b.new(a.shape, INT)
    b.add(Apply(systems.stable_order_of, found.base, (a.base,), place=b.place))
    return found


def taken(r: IterableReader, items: Sequence[Value], order: Array, k: int) -> Value:
    """Return the item that comes in a place."""
    at = r.b.counted(order.at((Const(k),)))
    r.b.ranges.natural.add(at.name)
    found = part_at(r, items, at)
    return r.item_among(items, Number(at, "int")) if found is None else found


def part_at(r: IterableReader, items: Sequence[Value], at: Expr) -> Value | None:
    """Return one of several numbers, or tuples of numbers, by its place; None for other things."""
    first = items[0]
    if isinstance(first, Tuple) and not (first.is_list or first.name or first.has_slots):
        rows = [v for v in items if isinstance(v, Tuple) and are_alike(first, v)]
        if len(rows) < len(items):
            return None
        parts = [part_at(r, part, at) for part in zip(*[v.items for v in rows], strict=True)]
        found = tuple([part for part in parts if part is not None])
        return Tuple(found, cls=first.cls) if len(found) == len(parts) else None
    return number_at(r, items, at) if are_numbers(items) else None


def sorted_numbers(b: Builder, value: Cells | Array, downwards: bool) -> Cells:
    """Return a new list of the floats of a list, or of a vector, in order."""
    is_list = isinstance(value, Cells)
    if is_list and value.ranks is not None:
        raise Unfit("`sorted` of floats of Python and of NumPy", b.place)
    a = value.as_array if is_list else value
    if len(a.shape) != 1 or a.kind != FLOAT:
        raise Unfit(f"`sorted` of {said(value)}: use floats", b.place)
    a = b.kept(a)
    order = order_of(b, a, downwards)
    found = b.kept(Array(a.shape, FLOAT, lambda at: a.at((order.at(at),))))
    return Cells(found, value.type if is_list else "float64")
