"""Changes to sets, each recorded with its inverse before it is made.

The order of a set is that of its hash table, which depends on its history.  It is recorded once,
like that of a dict, and restored as far as refilling the set can do it.
"""

from __future__ import annotations

import operator
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


def restore(s: set[Any], old: Any) -> None:
    """Put former contents back: one by one the table grows otherwise than by a whole set."""
    refill(s, old)
    if type(old) is list and not is_ordered(s, old):
        refill(s, frozenset(old))


def refill(s: set[Any], elements: Any) -> None:
    at_once(map(set.clear, (s,)), map(set.update, (s,), (elements,)))


def is_ordered(s: set[Any], elements: list[Any]) -> bool:
    """Return whether the elements of a set are these, in this order."""
    return len(s) == len(elements) and all(map(operator.is_, set.__iter__(s), elements))


def note_order(ctx: Recording, s: set[Any]) -> None:
    """Record the order of a set before the first change; empty ones have none."""
    if set.__len__(s) and id(s) not in ctx.ordered:
        ctx.ordered[id(s)] = s
        old = contents(s)
        if type(old) is list:
            note(ctx, restore_order, s, old, ctx.ordered)


def restore_order(s: set[Any], elements: list[Any], ordered: Any) -> None:
    """Undo changes of the order; one to come, in a part that is run again, must be recorded."""
    ordered.pop(id(s), None)
    if not is_ordered(s, elements):
        restore(s, elements)


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
    note_order(ctx, s)
    popped: list[Any] = []
    note(ctx, set.update, s, popped)
    popped.extend(map(set.pop, (s,)))  # at once, so that no interrupt comes in between
    return popped[0]


def clear(ctx: Recording, s: set[Any]) -> None:
    snapshot(ctx, s)
    set.clear(s)


def update(ctx: Mode, s: set[Any], *others: Any) -> None:
    for other in others:
        for v in ctx.iter(other) if other is not s else ():
            add(ctx, s, v)


def union(ctx: Mode, s: set[Any], other: Any) -> Any:
    if not isinstance(other, (set, frozenset)):
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


def iterated(ctx: Language, others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the iterable of a method, with the elements of vectors active."""
    return tuple([v if isinstance(v, (set, frozenset)) else ctx.iter(v) for v in others])


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
