"""Whom copies of arguments stand for, where a function asks which object it has.

A derivative may run its function on copies of the arguments, and other names lead to the originals.
Numbers that name the originals, ``id(node)``, may be keys of dicts anywhere: so they name the
copies too; and a copy is the original wherever a program asks whether two objects are one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from numpy import ndarray

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "Identities", "are_same", "copies_now", "given", "have_copies", "identity_of", "original_of",
    "originals_now",
]  # fmt: skip


_kept: dict[int, tuple[Any, Any]] = {}
"""Copies in calls that have ended, but may run again, and what they stand for, by their ids."""
_having: set[int] = set()
"""The ids of those in which some are not arrays."""


class Pair(Protocol):
    """An array, and a copy that stands for it."""

    original: ndarray
    copy: ndarray


class Identities:
    """Copies of the arguments of one call, and what they stand for.

    Parameters
    ----------
    copies : iterable of tuple
        Originals and copies.
    arrays : sequence of Pair
        More of them.  Most calls never need the tables that are made of both.
    whole : bool
        Whether all arguments are copies, and the function may run again for a pullback.
    """

    __slots__ = ("__weakref__", "arrays", "copies", "is_kept", "of_copy", "originals", "whole")

    def __init__(
        self, copies: Iterable[tuple[Any, Any]], arrays: Sequence[Pair], whole: bool
    ) -> None:
        self.copies = copies
        self.arrays = arrays
        self.whole = whole
        self.of_copy: dict[int, tuple[Any, Any]] | None = None  # by the ids of the copies
        self.originals: dict[int, Any] = {}  # by their ids, those that are not arrays
        self.is_kept = False
        if whole:
            self.keep()

    def keep(self) -> None:
        """Let all calls find the copies as long as this object lives."""
        if not self.is_kept:
            self.is_kept = True
            _kept.update(self.table())
            if self.originals:
                _having.add(id(self))

    def __del__(self, kept: Any = _kept, having: Any = _having) -> None:
        if self.is_kept:  # parameters, as the module may be gone when Python ends
            for key in self.of_copy or ():
                kept.pop(key, None)
            having.discard(id(self))

    def stay_with(self, ctx: Mode) -> None:
        """Stay as long as a call around this one, which runs this one again on its way back."""
        if self.table():
            self.keep()
            _within.setdefault(ctx, []).append(self)

    def table(self) -> dict[int, tuple[Any, Any]]:
        """Return the copies and their originals, by the ids of the copies."""
        if self.of_copy is None:
            pairs = [*self.copies, *((pair.original, pair.copy) for pair in self.arrays)]
            self.of_copy = {id(new): (new, old) for old, new in pairs if old is not new}
            found = (old for _, old in self.of_copy.values())
            self.originals = {id(old): old for old in found if not issubclass(type(old), ndarray)}
        return self.of_copy

    def enter(self) -> None:
        """Begin the call."""
        _thread.running.append(self)

    def leave(self) -> None:
        """End the call."""
        _thread.running.remove(self)


class _Thread(threading.local):
    """The calls of this thread whose arguments are copies."""

    def __init__(self) -> None:
        self.running: list[Identities] = []


_thread = _Thread()
_within: WeakKeyDictionary[Mode, list[Identities]] = WeakKeyDictionary()


def original_of(o: Any) -> Any:
    """Return the original of a copy; any other object is its own original."""
    entry = _kept.get(id(o))
    if entry is not None:
        return original_of(entry[1])
    for found in _thread.running:
        entry = found.table().get(id(o))
        if entry is not None:
            return original_of(entry[1])
    return o


def identity_of(o: Any) -> int:
    """Return the ``id`` of an object, or of what it stands for."""
    return id(original_of(o))


def given(ctx: Mode, o: Any) -> Any:
    """Return the tuple, or similar value, that one with active numbers was made of."""
    contexts = (ctx, *ctx.outers)
    while True:  # one call may lift what another has lifted
        found = (each.lifted.get(id(o)) for each in contexts)
        entry = next((entry for entry in found if entry is not None), None)
        if entry is None:
            return o
        o = entry[1]


def are_same(a: Any, b: Any) -> bool:
    """Return whether two objects are, or stand for, one."""
    if a is b:
        return True
    return bool(_thread.running or _kept) and original_of(a) is original_of(b)


def copies_now() -> Iterator[tuple[Any, Any]]:
    """Yield the copies in the calls that run, each with what it stands for."""
    yield from _kept.values()
    for found in _thread.running:
        yield from found.table().values()


def have_copies() -> bool:
    """Return whether there may be copies of objects other than arrays."""
    return bool(_having) or any(found.table() and found.originals for found in _thread.running)


def originals_now() -> dict[int, Any]:
    """Return the objects, by id, that copies stand for in the calls that run."""
    return {
        key: old for found in _thread.running if found.whole for key, old in found.originals.items()
    }
