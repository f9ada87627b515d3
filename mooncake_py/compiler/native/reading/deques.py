"""Calls and methods of `collections.deque`, the length of which is known.

line = deque([0.0] * 3, maxlen=3)       l.0, l.1, l.2 = 0, 0, 0
line.append(x)                          l.0, l.1, l.2 = l.1, l.2, x
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import MOST_ITEMS
from mooncake_py.compiler.native.building.values import (
    Cells,
    Dictionary,
    Known,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import dicts, lists
from mooncake_py.compiler.regions.ir import Const

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.structures import Structure, StructureReader

__all__ = ["METHODS", "extended", "made"]

NOTHING = Known(None)
NAMES = "iterable", "maxlen"
T = TypeVar("T")
Args = Sequence[Value]


def made(r: StructureReader, args: Args, given: dict[str, Value]) -> Value:
    """Read ``deque(items, maxlen)``."""
    if len(args) > len(NAMES) or not given.keys() <= {*NAMES[len(args) :]}:
        raise Unfit("a call of `deque` with arguments that do not fit", r.b.place)
    named = dict(zip(NAMES, args, strict=False)) | given
    most = length_of(r, named.get("maxlen", NOTHING))
    items = items_of(r, named["iterable"]) if "iterable" in named else ()
    kept = [r.kept_apart(item) for item in bounded(items, most)]
    return r.list_made(Deque(tuple(kept), is_list=True, maxlen=most), r.b.place)


def length_of(r: StructureReader, value: Value) -> int | None:
    """Return the largest length, which must be known."""
    if isinstance(value, Known) and value.value is None:
        return None
    found = dicts.found_key(r, value)
    if type(found) is not int or found < 0:
        raise Unfit(f"a deque with maxlen={said(value)}: use a constant int", r.b.place)
    return found


def items_of(r: StructureReader, value: Value) -> Sequence[Value]:
    """Return the items that a deque is filled with, one by one."""
    if isinstance(value, Dictionary):
        return [*map(dicts.key_value, value.keys)]
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Cells):
        (n,) = value.array.shape
        if not isinstance(n, Const):
            r.pin(n, MOST_ITEMS)
        elif n.value is not None and n.value <= MOST_ITEMS:
            return [lists.item(r.b, value, Number(Const(k), "int")) for k in range(int(n.value))]
    raise Unfit(f"a deque of {said(value)}: use a list of at most {MOST_ITEMS} items", r.b.place)


def bounded(items: Sequence[T], most: int | None, is_left: bool = False) -> Sequence[T]:
    """Return the items that are left: those at the other end are pushed out."""
    if most is None or len(items) <= most:
        return items
    return items[:most] if is_left else items[len(items) - most :]


def changed(r: StructureReader, made: Structure, items: Sequence[Value]) -> Value:
    """Let a deque hold other items."""
    r.refill(r.changing(made), items)
    return NOTHING


def now(r: StructureReader, made: Structure) -> list[Value]:
    """Return the items of a deque that is to be changed."""
    return r.items_in(r.changing(made))


def extended(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.extend(items)``."""
    assert isinstance(made, Deque)
    return changed(r, made, bounded([*now(r, made), *items_of(r, args[0])], made.maxlen))


def extended_left(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.extendleft(items)``."""
    assert isinstance(made, Deque)
    items = [*items_of(r, args[0])[::-1], *now(r, made)]
    return changed(r, made, bounded(items, made.maxlen, is_left=True))


def appended_left(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.appendleft(item)``."""
    return extended_left(r, made, (Tuple(tuple(args)),))


def popped(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.pop()``."""
    return r.delete_item(r.changing(made), Number(Const(-1), "int"))


def popped_left(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.popleft()``."""
    return r.delete_item(r.changing(made), Number(Const(0), "int"))


def turned(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.rotate(n)``."""
    by = dicts.found_key(r, args[0]) if args else 1
    if type(by) is not int:
        raise Unfit(f"`rotate` by {said(args[0])}: use a constant int", r.b.place)
    items = now(r, made)
    at = -by % len(items) if items else 0
    return changed(r, made, [*items[at:], *items[:at]])


def copied(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.copy()``."""
    assert isinstance(made, Deque)
    return r.list_made(Deque(made.items, is_list=True, maxlen=made.maxlen), r.b.place)


METHODS: dict[str, tuple[int, int, Callable[[StructureReader, Structure, Args], Value]]] = {
    "extendleft": (1, 1, extended_left), "appendleft": (1, 1, appended_left),
    "pop": (0, 0, popped), "popleft": (0, 0, popped_left), "rotate": (0, 1, turned),
    "copy": (0, 0, copied),
}  # fmt: skip
"""Methods other than those of lists, with how many arguments they take."""
