"""Memory that a solver lends to its callbacks, in which it goes on to write.

A callback that keeps it without a copy finds the solver's later points there, as in the plain call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.solvers.unsettled import Iterates
from mooncake_py.tangents.memory import address, owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Lent"]


class Pair(NamedTuple):
    """An array of a solver, and the copy that its callbacks have."""

    array: ref[ndarray]  # as it was passed last
    memory: ref[ndarray] | ndarray  # its owner; an array in its place if that is not an array
    copy: ref[ndarray]

    def read(self) -> ndarray | None:
        """Return the array, None if it is not known whether there is still one."""
        return self.memory if isinstance(self.memory, ndarray) else self.array()

    def is_over(self) -> bool:
        """Return whether the solver or all callbacks have dropped it."""
        return self.copy() is None or (isinstance(self.memory, ref) and self.memory() is None)


class Lent:
    """The arrays that one run of a solver has passed, and still has."""

    def __init__(self, ctx: Mode, iterates: Iterates) -> None:
        self.ctx = ctx
        self.iterates = iterates
        self.pairs: dict[tuple[Any, ...], Pair] = {}

    def copy_of(self, a: ndarray) -> ndarray:
        """Return a copy of what a callback is given: the same for the same memory."""
        self.follow()
        key = address(a), a.shape, a.strides, a.dtype
        known = self.pairs.get(key)
        copy = None if known is None else known.copy()
        if known is not None and copy is not None:
            self.update(copy, a)
            if known.array() is a:
                return copy
        new = copy is None
        if copy is None:
            copy = self.iterates.mark(a)
        o = owner(a)
        memory = ref(o) if o.flags.owndata else a
        self.pairs[key] = Pair(ref(a), memory, ref(copy))
        return copy if new else self.ctx.method(copy, "view")

    def follow(self) -> None:
        """Let the copies be what the solver's memory is by now."""
        for key, pair in list(self.pairs.items()):
            copy, a = pair.copy(), pair.read()
            if copy is None or pair.is_over():
                del self.pairs[key]
            elif a is not None:
                self.update(copy, a)

    def update(self, copy: ndarray, a: ndarray) -> None:
        """Write what an array holds into its copy."""
        if not np.array_equal(copy, a, equal_nan=True):
            self.ctx.assign(copy, Ellipsis, self.iterates.mark(a))
