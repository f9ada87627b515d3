"""Lists of numbers that change, in memory that is made before all else and has room for more.

out = []                        out = array(16)         at the beginning
n = 0
out.append(a)                   room in out for n + 1
out[n] = a
n = n + 1
"""

from __future__ import annotations

from collections.abc import Sequence

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.findings import Again, Findings
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.narrow import rank_of
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
from mooncake_py.compiler.native.reading import lists
from mooncake_py.compiler.native.regions.linear import LARGE, ONE, plus
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Alloc, Assign, Const, Count, Expr, Grow, Load, Name

__all__ = ["appended", "find_out", "fits", "started"]

ROOM = Const(16)  # for so many items at first


def started(b: Builder, made: Tuple | Cells, type_: str, mixed: set[str]) -> Cells:
    """Return a list that grows, with the items of a new one.

    Parameters
    ----------
    type_ : str
        Of the first number that it gains.
    """
    if isinstance(made, Cells):
        items: Sequence[Value] = ()
        type_ = made.type or type_
    else:
        items = made.items
        type_ = next((x.type for x in items if isinstance(x, Number)), type_)
    kind = KINDS.get(type_)
    if kind not in (FLOAT, INT):
        raise Unfit(f"a list that grows by numbers of type {type_}: use floats or ints", b.place)
    base, length = b.fresh("g"), b.fresh("n")
    b.kinds[length] = INT
    b.ranges.sizes[length] = LARGE
    ranks = None
    if base in mixed:
        ranks, type_ = room(b, b.fresh("g"), INT), "float64"
    found = Cells(room(b, base, kind), type_, ranks, length)
    b.add(Count(length, Const(0), place=b.place))
    b.frozen = {}
    for x in items:
        append(b, found, x, mixed)
    if isinstance(made, Cells):
        extend(b, found, made)
    return found


def room(b: Builder, base: str, kind: str) -> Array:
    """Return the memory of a list, no item of which is there yet."""
    b.kinds[base], b.arrays[base], b.made[base] = kind, 1, 0
    b.first.append(Alloc(base, (ROOM,), kind, False, place=b.place))
    return Array((Const(0),), kind, lambda index: Load(base, index), base)


def appended(b: Builder, made: Tuple | Cells, value: Value, findings: Findings) -> None:
    """Read ``made.append(value)``."""
    if not isinstance(value, Number):
        raise Unfit(f"`append` of {said(value)}: use a number", b.place)
    if isinstance(made, Cells) and made.length:
        append(b, made, value, findings.mixed)
        return
    if isinstance(made, Cells) and made.base in b.lists:
        findings.grown[made.base] = value.type
        raise Again
    find_out(made, findings, value.type)
    raise Unfit("a list that grows, and is passed or holds other things", b.place)


def find_out(made: Tuple | Cells, findings: Findings, type_: str = "") -> None:
    """Find out that a list, made in a known place, must stand in memory if it can."""
    place = made.place
    if place is not None and place not in findings.growing and fits(made):
        findings.growing[place] = type_
        raise Again


def fits(made: Tuple | Cells) -> bool:
    """Return True for a list of floats, or of ints, only."""
    if isinstance(made, Cells):
        return True
    kinds = {x.kind if isinstance(x, Number) else "" for x in made.items}
    return (
        made.is_list and not isinstance(made, Deque) and len(kinds) <= 1 and kinds <= {FLOAT, INT}
    )


def append(b: Builder, cells: Cells, value: Value, mixed: set[str]) -> None:
    """Put an item at the end of a list."""
    value = lists.like_items(b, cells, value, mixed)
    n = Name(cells.length)
    e = operations.as_element(b, value)
    put(b, cells.array, n, operations.as_float(e) if value.kind == FLOAT else e)
    if cells.ranks is not None:
        put(b, cells.ranks, n, rank_of(b, value))
    b.add(Count(cells.length, plus(n, ONE), place=b.place))
    b.frozen = {}


def put(b: Builder, a: Array, n: Expr, e: Expr) -> None:
    """Write an element behind the others, in new memory if there is no room."""
    b.add(Grow(a.base, plus(n, ONE), place=b.place))
    b.add(Assign(Load(a.base, (n,)), e, place=b.place))


def extend(b: Builder, cells: Cells, made: Cells) -> None:
    """Put the items of another list into an empty one."""
    n = b.steady(made.shape[0])
    pairs = [(cells.array, made.array.at)]
    if cells.ranks is not None:
        same = Const(RANKS[made.type])
        pairs.append((cells.ranks, (lambda _: same) if made.ranks is None else made.ranks.at))
    elif made.ranks is not None:
        raise Unfit("a list of floats of Python and of NumPy that grows", b.place)
    for own, at in pairs:
        b.add(Grow(own.base, n, place=b.place))
        b.for_all((n,), lambda index, own=own, at=at: b.stored(own, index, at(index)))
    b.add(Count(cells.length, n, place=b.place))
    b.frozen = {}
