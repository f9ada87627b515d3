"""Whom copies of arguments stand for, where a function asks which object it has.

A derivative may run its function on copies of the arguments, and other names lead to the originals.
Numbers that name the originals, ``id(node)``, may be keys of dicts anywhere: so they name the
copies too; and a copy is the original wherever a program asks whether two objects are one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from numpy import ndarray

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "Identities", "are_same", "have_copies", "identity_of", "original_of", "originals_now",
]  # fmt: skip


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

    __slots__ = ("__weakref__", "arrays", "copies", "of_copy", "originals", "whole")

    def __init__(
        self, copies: Iterable[tuple[Any, Any]], arrays: Sequence[Pair], whole: bool
    ) -> None:
        self.copies = copies
        self.arrays = arrays
        self.whole = whole
        self.of_copy: dict[int, tuple[Any, Any]] | None = None  # by the ids of the copies
        self.originals: dict[int, Any] = {}  # by their ids, those that are no arrays
        if whole and self.table():
            _all.add(self)

    def stay_with(self, ctx: Mode) -> None:
        """Stay as long as a call around this one, which runs this one again on its way back."""
        if self.table():
            _all.add(self)
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
_all: WeakSet[Identities] = WeakSet()
_within: WeakKeyDictionary[Mode, list[Identities]] = WeakKeyDictionary()


def known() -> Iterator[Identities]:
    """Yield the copies of the calls that run, or whose pullbacks may."""
    yield from _thread.running
    if _all:
        yield from _all


def original_of(o: Any) -> Any:
    """Return what an object stands for: itself, if it is no copy."""
    for found in known():
        entry = found.table().get(id(o))
        if entry is not None:
            return original_of(entry[1])
    return o


def identity_of(o: Any) -> int:
    """Return the ``id`` of an object, or of what it stands for."""
    return id(original_of(o))


def are_same(a: Any, b: Any) -> bool:
    """Return whether two objects are, or stand for, one."""
    if a is b:
        return True
    return bool(_thread.running or _all) and original_of(a) is original_of(b)


def have_copies() -> bool:
    """Return whether there may be copies of objects other than arrays."""
    return any(found.table() and found.originals for found in known())


def originals_now() -> dict[int, Any]:
    """Return the objects, by id, that copies stand for in the calls that run."""
    return {
        key: old for found in _thread.running if found.whole for key, old in found.originals.items()
    }
