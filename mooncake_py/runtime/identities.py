"""Whom copies of arguments stand for, where a function asks which object it has.

A pullback keeps copies of objects.  Numbers that name the originals, ``id(node)``, may be keys of
dicts anywhere: so they name the copies too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any
from weakref import WeakSet

from numpy import ndarray

__all__ = ["Identities", "identity_of", "originals_now"]


class Identities:
    """Copies of the arguments of one call, and what they stand for.

    Attributes
    ----------
    of_copy : dict
        The copies and their originals, by the ids of the copies.
    originals : dict
        The originals by their ids.
    """

    __slots__ = ("__weakref__", "of_copy", "originals")

    def __init__(self, copies: Iterable[tuple[Any, Any]]) -> None:
        pairs = [
            (old, new)
            for old, new in copies
            if old is not new and not issubclass(type(old), ndarray)
        ]
        self.of_copy = {id(new): (new, old) for old, new in pairs}
        self.originals = {id(old): old for old, _ in pairs}
        if pairs:
            _all.add(self)

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


def identity_of(o: Any) -> int:
    """Return the ``id`` of an object, or of what it stands for."""
    if not _all:  # to begin a loop over a weak set takes longer
        return id(o)
    for found in _all:
        known = found.of_copy.get(id(o))
        if known is not None:
            return identity_of(known[1])
    return id(o)


def originals_now() -> dict[int, Any]:
    """Return the objects, by id, that copies stand for in the calls that run."""
    if not _thread.running:
        return {}
    return {key: old for found in _thread.running for key, old in found.originals.items()}
