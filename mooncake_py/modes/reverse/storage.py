"""The memory of compiled calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.spares import FIRST, STACK

if TYPE_CHECKING:
    from mooncake_py.modes.reverse.whole import Match

__all__ = ["Storage", "Workspace"]


class Storage(Protocol):
    """Memory for a call: `Spares` have what earlier calls left, a `Workspace` what one keeps."""

    def copied(self, purpose: str, a: ndarray) -> ndarray:
        """Return a copy in C order."""
        ...

    def stack(self) -> ndarray:
        """Return a stack for a forward sweep, which may give back a larger one."""
        ...

    def zeros(self, purpose: str, a: ndarray) -> ndarray:
        """Return zeros of the shape and dtype of an array, for what may be given back."""
        ...

    def keeps(self, a: ndarray) -> bool:
        """Return True if an array may lie in what `zeros` gives."""
        ...

    def give(self, purpose: str, a: ndarray) -> None:
        """Take back an array that is no longer in use."""
        ...


class Workspace:
    """Memory that calls use in turns, one at a time.

    Attributes
    ----------
    copies, shadows : dict of str to ndarray
        Of compiled calls, by the names in the region.
    results : dict of tuple of int to ndarray
        What calls give back, by its place in nested tuples.
    matches : dict of bool to Match
        What calls run whole, as text of NumPy or compiled.
    thread : int
        That of the last call, 0 before the first.
    """

    thread = 0

    def __init__(self) -> None:
        self.matches: dict[bool, Match] = {}
        self.copies: dict[str, ndarray] = {}
        self.shadows: dict[str, ndarray] = {}
        self.results: dict[tuple[int, ...], ndarray] = {}

    def copied(self, purpose: str, a: ndarray) -> ndarray:
        """Return a copy in C order."""
        copy = self.copies.get(purpose)
        if copy is None or copy.shape != a.shape or copy.dtype != a.dtype:
            copy = self.copies[purpose] = np.empty(a.shape, a.dtype)
        np.copyto(copy, a)
        return copy

    def stack(self) -> ndarray:
        """Return a stack for a forward sweep, which may give back a larger one."""
        found = self.copies.get(STACK)
        return np.empty(FIRST) if found is None else found

    def zeros(self, purpose: str, a: ndarray) -> ndarray:
        """Return zeros of the shape and dtype of an array: the same array each time."""
        found = self.shadows.get(purpose)
        if found is None or found.shape != a.shape or found.dtype != a.dtype:
            found = self.shadows[purpose] = np.zeros(a.shape, a.dtype)
        else:
            found.fill(0.0)
        return found

    def keeps(self, a: ndarray) -> bool:
        """Return True if an array may lie in what `zeros` gives: the result of an earlier call."""
        return any(np.may_share_memory(a, own) for own in self.shadows.values())

    def give(self, purpose: str, a: ndarray) -> None:
        """Take back an array that is no longer in use."""
        self.copies[purpose] = a

    def kept(self, value: Any, place: tuple[int, ...] = ()) -> Any:
        """Return a result, of an array and of those in tuples the one that is kept.

        Parameters
        ----------
        value : object
            New memory, or what `zeros` gave.
        """
        if type(value) is tuple:
            return tuple([self.kept(part, (*place, i)) for i, part in enumerate(value)])
        if type(value) is not ndarray:
            return value
        own = self.results.get(place)
        if own is value:
            return own
        if own is None or own.shape != value.shape or own.dtype != value.dtype:
            # One array in this result may be two in the next.
            others = [a for key, a in self.results.items() if key != place]
            shared = any(np.may_share_memory(value, a) for a in others)
            own = self.results[place] = value.copy() if shared else value
            return own
        np.copyto(own, value)
        return own
