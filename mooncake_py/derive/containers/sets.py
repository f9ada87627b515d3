"""Changes to sets, each recorded with its inverse."""

from __future__ import annotations

from typing import Any

from mooncake_py.derive.containers.undo import is_plain_key, note

__all__ = ["ITERATING", "METHODS", "contents", "iterated", "restore", "snapshot"]


def snapshot(ctx: Any, s: set[Any]) -> None:
    """Record the whole contents of a set that is about to change."""
    note(ctx, restore, s, contents(s))


def contents(s: set[Any]) -> set[Any]:
    """Return a copy of the contents."""
    return set(set.__iter__(s))


def restore(s: set[Any], old: set[Any]) -> None:
    """Put former contents back."""
    set.clear(s)
    set.update(s, old)


def add(ctx: Any, s: set[Any], v: Any) -> None:
    if not set.__contains__(s, v):
        set.add(s, v)
        note(ctx, set.discard, s, v)


def remove(ctx: Any, s: set[Any], v: Any) -> None:
    if not is_plain_key(v):
        snapshot(ctx, s)
        set.remove(s, v)
        return
    set.remove(s, v)
    note(ctx, set.add, s, v)


def discard(ctx: Any, s: set[Any], v: Any) -> None:
    if set.__contains__(s, v):
        remove(ctx, s, v)


def pop(ctx: Any, s: set[Any]) -> Any:
    v = set.pop(s)
    note(ctx, set.add, s, v)
    return v


def clear(ctx: Any, s: set[Any]) -> None:
    snapshot(ctx, s)
    set.clear(s)


def update(ctx: Any, s: set[Any], *others: Any) -> None:
    for other in others:
        for v in ctx.iter(other) if other is not s else ():
            add(ctx, s, v)


def union(ctx: Any, s: set[Any], other: Any) -> Any:
    """Run ``s |= other``."""
    if not isinstance(other, (set, frozenset)):
        return set.__ior__(s, other)  # raises, or leaves it to the other operand
    update(ctx, s, other)
    return s


def whole(name: str) -> Any:
    """Return what runs a method whose cost is that of a copy, or nearly so."""
    native = getattr(set, name)

    def run(ctx: Any, s: set[Any], *others: Any) -> Any:
        snapshot(ctx, s)
        return native(s, *iterated(ctx, others))

    return run


def iterated(ctx: Any, others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a method iterates over, with the elements of vectors active."""
    return tuple([v if isinstance(v, (set, frozenset)) else ctx.iter(v) for v in others])


ITERATING = frozenset({
    "union", "intersection", "difference", "symmetric_difference", "isdisjoint", "issubset",
    "issuperset",
})

METHODS = {
    "add": add, "remove": remove, "discard": discard, "pop": pop, "clear": clear,
    "update": update, "__ior__": union,
    **{
        name: whole(name)
        for name in ("difference_update", "intersection_update", "symmetric_difference_update",
                     "__iand__", "__isub__", "__ixor__", "__init__")
    },
}
