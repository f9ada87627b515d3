"""The cotangents after a loop, from which its adjoint computes those before it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.active import Active
from mooncake_py.tangents.memory import Shadows, zeros_like_owner

if TYPE_CHECKING:
    from mooncake_py.modes.debug.regions import LoopBeside
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Noted", "cotangents"]

REALS = float, np.float64


class Noted:
    """The cotangents after a loop, of what its adjoint takes them from.

    A number that is bound to several names, or was there before, has one cotangent: it is that of
    the first name.

    Attributes
    ----------
    grads : list of float
        Of the names that the region binds.
    items : dict of int to list of float
        Of the items that the region has written, by the id of the list.
    leaves : dict of int to (Active, float)
        Of the numbers that were there before, by id, what does not come from the above.
    arrays : dict of str to ndarray
        The active arrays, by name.
    blocks : Shadows
        Their cotangents.
    """

    def __init__(self, run: LoopBeside) -> None:
        self.taken: set[int] = set()
        form = run.form
        self.grads = [self.take(run.bound[name]) for name in form.outputs]
        self.items: dict[int, list[float]] = {}
        leaves = [run.inputs[name] for name in form.leaves]
        for name, a in run.each_list():
            now, written = run.items[id(run.source[name])], set(a.changed())
            self.items[id(run.source[name])] = [
                self.take(now[k]) if k in written else 0.0 for k in range(len(now))
            ]
            leaves += [leaf for _, leaf in a.leaves]
        self.leaves = {
            id(leaf): (leaf, 0.0 if id(leaf) in self.taken else leaf.grad) for leaf in leaves
        }
        self.arrays = {
            name: run.inputs[name] for name in form.shadows if type(run.inputs[name]) is ndarray
        }
        self.blocks = cotangents(run.ctx)
        self.views = [self.blocks.view(a) for a in self.arrays.values()]

    def take(self, y: Any) -> Any:
        """Return the cotangent of a number, once."""
        if type(y) is not Active or id(y) in self.taken:
            return 0.0
        self.taken.add(id(y))
        return y.grad

    @property
    def is_finite(self) -> bool:
        """Whether all are finite numbers."""
        numbers = [*self.grads, *(g for _, g in self.leaves.values())]
        numbers += [g for found in self.items.values() for g in found]
        if not all(isinstance(g, REALS) and math.isfinite(g) for g in numbers):
            return False
        return all(np.isfinite(view).all() for view in self.views)


def cotangents(ctx: ReverseMode) -> Shadows:
    """Return copies of the cotangents of arrays, as they are when they are asked for."""

    def make(own: ndarray) -> ndarray:
        found = zeros_like_owner(own)
        node = ctx.find(own)
        grad = None if node is None else node.memory.grad
        if grad is not None:
            found[...] = grad.reshape(own.shape)
        return found

    return Shadows(make)
