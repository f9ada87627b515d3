"""Values with their tangents as Duals, for rules and for those who call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application import shadows
from mooncake_py.application.lift import Settler
from mooncake_py.application.walker import Finder
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.memory import Memory
from mooncake_py.tangents.builtin_specs import differentiable_array
from mooncake_py.tangents.memory import is_writeable, owner, shadow_view
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext

__all__ = ["TangentFinder", "TangentReader", "TangentSettler", "Tangents"]


class TangentSettler(Settler):
    """Brings values to plain numbers after a forward-mode call.

    The nodes are arrays, and numbers whose `grad` is the tangent.
    """

    ctx: ForwardContext  # pyright: ignore[reportIncompatibleVariableOverride]

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        primal, tangent = self.ctx.split(value)
        node = active_number(primal, self.ctx)
        node.grad = 0.0 if tangent is None else tangent
        return primal, node

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        return value, plain(value) if differentiable_array(value) else None


class TangentFinder(Finder, TangentSettler):
    """Finds the same nodes, and leaves the values as they are."""


class TangentReader(TangentFinder):
    """Finds nodes that have the tangents now: those of arrays are copies."""

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        _, found = super().visit_array(value)
        if found is None:
            return value, None
        node = Memory.of(found)
        tangent = self.ctx.blocks.tangent_of(found)
        node.grad = None if tangent is None else np.array(tangent, order="C")
        return value, node


class Tangents(shadows.Follower):
    """Builds tangents of the tangent type from nodes, in place where there are some already.

    With `written`, arrays without a tangent get one, as it may be written to.
    """

    def __init__(self, ctx: ForwardContext, written: bool = True) -> None:
        super().__init__([])
        self.ctx = ctx
        self.written = written
        self.given: list[tuple[ndarray, ndarray]] = []

    @override
    def tangent(self, tree: Any, present: Any) -> Any:
        if type(tree) is Active:
            return in_kind(tree.grad, tree.primal)
        if isinstance(tree, ndarray):
            return self.of_array(tree, present)
        return super().tangent(tree, present)

    def of_array(self, a: ndarray, present: Any) -> ndarray:
        """Return the tangent of an array: the present one, if it fits, with new contents."""
        tangent = self.ctx.blocks.tangent_of(a)
        if type(present) is ndarray and (present.shape, present.dtype) == (a.shape, a.dtype):
            present[...] = 0 if tangent is None else tangent
            self.given.append((a, present))
            return present
        for known, given in self.given:
            if is_part(a, known) and given.strides == known.strides:
                return shadow_view(given, known, a)
        if tangent is None and self.written and is_writeable(a):
            return self.ctx.blocks.activate(a)
        return np.broadcast_to(np.zeros((), a.dtype), a.shape) if tangent is None else tangent


def in_kind(tangent: Any, primal: Any) -> Any:
    """Return the tangent of a number in the type of the number."""
    kind = type(primal)
    return tangent if type(tangent) in (kind, Active) or kind is Active else kind(tangent)


def is_part(a: ndarray, whole: ndarray) -> bool:
    """Return whether an array lies within the memory of a dense one."""
    if not whole.flags.forc or a.dtype != whole.dtype or owner(a) is not owner(whole):
        return False
    low, high = np.lib.array_utils.byte_bounds(a)
    first, end = np.lib.array_utils.byte_bounds(whole)
    return first <= low and high <= end
