"""Tangents of arrays, by the array that owns the memory: views share them as they share memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import ref

from numpy import ndarray

from mooncake_py.runtime.drops import Reporter, read_as_bytes, refuse_other_bytes
from mooncake_py.tangents.memory import shadow_view, zeros_like_owner

__all__ = ["Blocks"]


class Block(NamedTuple):
    """A tangent, and a reference to the owner of the memory that it belongs to."""

    ref: ref[ndarray]
    tangent: ndarray


class Blocks:
    """The blocks of memory that have a tangent.

    Parameters
    ----------
    owner : callable
        From an array to the one that owns its memory.
    report : callable
        Notes an error in the call, from :func:`drops.reporter`.

    Notes
    -----
    A block goes when its owner does: a loop over short-lived arrays keeps no tangents.
    """

    def __init__(self, owner: Callable[[ndarray], ndarray], report: Reporter) -> None:
        self.owner = owner
        self.report = report
        self.known: dict[int, Block] = {}

    def tangent_of(self, a: ndarray) -> ndarray | None:
        """Return the tangent of an array, a view of that of its block; None where it is zero."""
        known = self.known.get(id(a))
        if known is not None and known.ref() is a:
            if a.dtype.kind not in "fcV":
                raise self.report(read_as_bytes(a.dtype))
            return known.tangent
        if a.base is None:
            return None
        owner = self.owner(a)
        known = self.known.get(id(owner))
        if known is None or known.ref() is not owner:
            return None
        if a.dtype is not owner.dtype:
            refuse_other_bytes(self.report, a.dtype, owner.dtype)
        return shadow_view(known.tangent, owner, a)

    def put(self, owner: ndarray, tangent: ndarray) -> None:
        """Register the tangent of a block, an array of its own with the layout of the owner."""
        key = id(owner)
        blocks = ref(self)  # no cycle, which only the collector would free

        def forget(gone: ref[ndarray]) -> None:
            alive = blocks()
            found = None if alive is None else alive.known.get(key)
            if alive is not None and found is not None and found.ref is gone:
                del alive.known[key]

        self.known[key] = Block(ref(owner, forget), tangent)

    def activate(self, a: ndarray) -> ndarray:
        """Return the tangent of an array, of zeros if it had none."""
        tangent = self.tangent_of(a)
        if tangent is None:
            owner = a if a.base is None else self.owner(a)
            self.put(owner, zeros_like_owner(owner))
            tangent = self.tangent_of(a)
            assert tangent is not None
        return tangent

    def change_shape(self, a: ndarray, shape: Any) -> None:
        """Give an array and its tangent another shape in place."""
        tangent = self.tangent_of(a)
        a.shape = shape
        if tangent is not None:
            self.put(a, tangent.reshape(a.shape))
