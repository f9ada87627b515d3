"""Places that only the record of a change tells: shapes of arrays, attributes that C keeps."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mooncake_py.containers import decimals, foreign_memory, state
from mooncake_py.containers.apart import stands_apart
from mooncake_py.containers.holders import Place
from mooncake_py.containers.undo import note
from mooncake_py.overriding import override
from mooncake_py.runtime.quiet import error_modes, set_error_modes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["ErrorState", "Noted", "in_order", "is_noted"]

Entry = tuple[Any, ...]
Reader = Callable[..., tuple[Any, ...]]

READERS: dict[Any, tuple[Reader, tuple[int, ...]]] = {
    state.restore_attribute: (lambda o, name, _: (name, state.old_attribute(o, name)), (0,)),
    state.restore_slot: (lambda o, slot, _: (slot, state.slot_value(slot, o)), (0,)),
    state.restore_flag: (lambda a, name, _: (name, getattr(a.flags, name)), (0,)),
    state.restore_shape: (lambda a, _, known: (a.shape, known), (1,)),
    state.restore_raised: (lambda error, _: (state.of_raised(error),), ()),
    state.restore_partial: (lambda f, _: (state.of_partial(f),), ()),
    deque.__init__: (lambda d, *_: ([*d], d.maxlen), ()),
    decimals.restore: (lambda c, *_: (c.flags.copy(), c.traps.copy()), ()),
    decimals.fill: (lambda signals, _: (dict(signals.items()),), ()),
    foreign_memory.restore: (
        lambda o, other, address, old, *more: (
            other, address, ctypes.string_at(address, len(old)), *more
        ),
        (1,),
    ),
}  # fmt: skip
"""By the inverse of a change: a reader of its details, and the details that identify the place."""


def is_noted(entry: Entry) -> bool:
    """Return whether an entry undoes a change of such a place."""
    _, inverse, o, *details = entry
    if inverse is state.restore_attribute:
        return stands_apart(o, details[0])
    if inverse is state.restore_slot:
        return stands_apart(o, details[0].__name__)
    return inverse in READERS


class Noted(Place):
    """A place as the entry of a change has it; what it holds are the details of such an entry."""

    def __init__(self, entry: Entry) -> None:
        _, self.inverse, o, *self.details = entry
        super().__init__(f"an attribute of a {type(o).__name__}", o)
        self.read_details, which = READERS[self.inverse]
        self.key = self.inverse, id(o), *(self.details[i] for i in which)

    @override
    def read(self) -> Any:
        return self.read_details(self.holder, *self.details)

    @override
    def write(self, contents: Any) -> None:
        self.inverse(self.holder, *contents)

    @override
    def record(self, ctx: Mode) -> None:
        note(ctx, self.inverse, self.holder, *self.read())

    @override
    def is_same(self, a: Any, b: Any) -> bool:
        return are_same(a, b)

    @override
    def put(self, ctx: Mode, contents: Any) -> None:
        if self.inverse is not state.restore_shape:
            super().put(ctx, contents)
        elif self.holder.shape != contents[0]:
            ctx.change_shape(self.holder, contents[0])


class ErrorState(Place):
    """How NumPy raises errors, which is as before at the end of the derivative anyway."""

    def __init__(self) -> None:
        super().__init__("how NumPy raises errors", None)

    @override
    def read(self) -> Any:
        return error_modes()

    @override
    def write(self, contents: Any) -> None:
        set_error_modes(contents)

    @override
    def record(self, ctx: Mode) -> None:
        pass

    @override
    def is_same(self, a: Any, b: Any) -> bool:
        return a == b

    @override
    def put(self, ctx: Mode, contents: Any) -> None:
        super().put(ctx, contents)
        ctx.heed_settings()


def in_order(contents: Iterable[Any]) -> list[Any]:
    """Return pairs of places and contents in the order to set them.

    First the shapes of arrays, and the classes of objects; at last what locks an array, which is
    unlocked before.
    """
    pairs = list(contents)
    locks = [pair for pair in pairs if isinstance(pair[0], Noted) and pair[1] == LOCKED]
    unlocked = [(place, ("writeable", True)) for place, _ in locks]
    others = [pair for pair in pairs if not any(pair is lock for lock in locks)] if locks else pairs
    noted = [pair for pair in others if isinstance(pair[0], Noted)]
    return [*unlocked, *noted, *(p for p in others if not isinstance(p[0], Noted)), *locks]


LOCKED = ("writeable", False)
PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None)})


def are_same(a: Any, b: Any) -> bool:
    """Return whether details are the same objects, or equal numbers, strings and bytes."""
    if type(a) is dict is type(b):
        return list(a) == list(b) and are_same([*a.values()], [*b.values()])
    if type(a) is type(b) and type(a) in (tuple, list):
        return len(a) == len(b) and all(map(are_same, a, b))
    return a is b or (type(a) is type(b) and type(a) in PLAIN and repr(a) == repr(b))
