"""Changes to sets, each recorded with its inverse before it is made.

The order of a set is that of its hash table, which depends on its history.  It is recorded once,
like that of a dict, and restored as far as refilling the set can do it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import is_plain_key, note
from mooncake_py.runtime.interrupts import at_once

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language, Mode, Recording

__all__ = ["ITERATING", "METHODS", "contents", "iterated", "restore", "snapshot"]


def snapshot(ctx: Recording, s: set[Any]) -> None:
    """Record the whole contents of a set that is about to change."""
    note_order(ctx, s)
    note(ctx, restore, s, contents(s))


def contents(s: set[Any]) -> Any:
    """Return the elements in their order; a copy if their hashes are the user's code."""
    elements = list(set.__iter__(s))
    return elements if all(map(is_plain_key, elements)) else set.copy(s)


def restore(s: set[Any], old: Any, size: int | None = None) -> None:
    """Put former contents back, in a table of the former size if that is known.

    On the size of the table depends what order later additions lead to.
    """
    if type(old) is not list:
        refill(s, old)
        return
    for wanted in (size, None):
        for elements in fillings(old):
            refill(s, elements)
            if is_ordered(s, old) and wanted in (None, set.__sizeof__(s)):
                return


def fillings(elements: list[Any]) -> Iterator[Any]:
    """Yield arguments that may fill a set in an order: item by item, the table grows otherwise."""
    yield elements
    yield dict.fromkeys(elements)
    yield frozenset(elements)
    yield elements[::-1]
    yield dict.fromkeys(elements[::-1])


def refill(s: set[Any], elements: Any) -> None:
    at_once(map(set.clear, (s,)), map(set.update, (s,), (elements,)))


def is_ordered(s: set[Any], elements: list[Any]) -> bool:
    """Return whether the elements of a set are these, in this order."""
    return set.__len__(s) == len(elements) and all(map(operator.is_, set.__iter__(s), elements))


def note_order(ctx: Recording, s: set[Any]) -> None:
    """Record the order of a set before the first change; empty ones have none."""
    if set.__len__(s) and id(s) not in ctx.ordered:
        ctx.ordered[id(s)] = s
        old = contents(s)
        if type(old) is list:
            note(ctx, restore_order, s, old, set.__sizeof__(s), ctx.ordered)


def restore_order(s: set[Any], elements: list[Any], size: int, ordered: Any) -> None:
    """Undo changes of the order; one to come, in a part that is run again, must be recorded."""
    ordered.pop(id(s), None)
    restore(s, elements, size)


def add(ctx: Recording, s: set[Any], v: Any) -> None:
    if not set.__contains__(s, v):
        note_order(ctx, s)
        note(ctx, set.discard, s, v)
        set.add(s, v)


def remove(ctx: Recording, s: set[Any], v: Any) -> None:
    if not is_plain_key(v):
        snapshot(ctx, s)
        set.remove(s, v)
        return
    if set.__contains__(s, v):
        note_order(ctx, s)
        note(ctx, set.add, s, v)
    set.remove(s, v)


def discard(ctx: Mode, s: set[Any], v: Any) -> None:
    if set.__contains__(s, v):
        remove(ctx, s, v)


def pop(ctx: Recording, s: set[Any]) -> Any:
    popped: list[Any] = []
    if id(s) not in ctx.ordered:
        note(ctx, turn_to, s, popped)
    note_order(ctx, s)
    note(ctx, set.update, s, popped)
    popped.extend(map(set.pop, (s,)))  # at once, so that no interrupt comes in between
    return popped[0]


def turn_to(s: set[Any], popped: list[Any]) -> None:
    """Let the next element to be popped be the one that was: `pop` goes on where it stopped."""
    order, size = list(set.__iter__(s)), set.__sizeof__(s)
    if not (popped and all(map(is_plain_key, order)) and popped[0] in order):
        return
    last = order[order.index(popped[0]) - 1]
    for elements in fillings(order):
        trial = set[Any]()
        trial.update(elements)
        if is_ordered(trial, order) and set.__sizeof__(trial) == size:
            pops = iter(partial(set.pop, s), last)
            at_once(pops, map(set.clear, (s,)), map(set.update, (s,), (elements,)))
            return


def clear(ctx: Recording, s: set[Any]) -> None:
    snapshot(ctx, s)
    set.clear(s)


def update(ctx: Mode, s: set[Any], *others: Any) -> None:
    for other in others:
        if issubclass(type(other), (set, frozenset)) or type(other) is dict:
            merge(ctx, s, other)
        else:
            for v in ctx.iter(other):
                add(ctx, s, v)


def merge(ctx: Recording, s: set[Any], other: Any) -> None:
    """Add the elements of a set or a dict: the table grows at once, so the order is another."""
    note_order(ctx, s)
    note(ctx, set.difference_update, s, list(set(other).difference(s)))
    set.update(s, other)


def union(ctx: Mode, s: set[Any], other: Any) -> Any:
    if not issubclass(type(other), (set, frozenset)):
        return set.__ior__(s, other)  # raises, or leaves it to the other operand
    update(ctx, s, other)
    return s


def whole(name: str) -> Any:
    """Return the handler of a method that costs about as much as a copy."""
    native = getattr(set, name)

    def run(ctx: Mode, s: set[Any], *others: Any) -> Any:
        snapshot(ctx, s)
        return native(s, *iterated(ctx, others))

    return run


def iterated(ctx: Language, others: tuple[Any, ...], name: str = "") -> tuple[Any, ...]:
    """Return the iterable of a method, with the elements of vectors active.

    What sets hold is read past their methods, except one method of subclasses.
    """
    asks = name == "isdisjoint"
    return tuple([
        v if type(v) in SETS or (not asks and issubclass(type(v), SETS)) else ctx.iter(v)
        for v in others
    ])  # fmt: skip


SETS = (set, frozenset)


ITERATING = frozenset({
    "union", "intersection", "difference", "symmetric_difference", "isdisjoint", "issubset",
    "issuperset",
})  # fmt: skip

METHODS = {
    "add": add, "remove": remove, "discard": discard, "pop": pop, "clear": clear,
    "update": update, "__ior__": union,
    **{
        name: whole(name)
        for name in ("difference_update", "intersection_update", "symmetric_difference_update",
                     "__iand__", "__isub__", "__ixor__", "__init__")
    },
}  # fmt: skip
