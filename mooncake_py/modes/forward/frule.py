"""The forward rule of any function, from Duals to a Dual."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.kept import hand_out
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import InvalidTangentError
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.forward.duals import Tangents, TangentSettler
from mooncake_py.modes.forward.lift import TangentLifter, give_tangent
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.enclosing import enclosing, nested_derivative
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.tangents import Dual, NoTangent

__all__ = ["derived_frule"]


def derived_frule(*duals: Dual, **kwargs: Any) -> Dual:
    """Run a function in forward mode on Duals, the function first; see `frule`."""
    with boundary, limits_raised():
        outer = enclosing()
        if outer is not None and outer.contains_active([(d.primal, d.tangent) for d in duals]):
            raise nested_derivative((outer,))
        ctx = ForwardContext(ReverseContext(), plain=True)
        with TangentLifter(ctx) as lifter, guarded(ctx):
            pairs = [lifter.visit(dual.primal) for dual in duals]
            for i, ((_, tree), dual) in enumerate(zip(pairs, duals, strict=True)):
                give_tangent(ctx, tree, dual.tangent, f"of {name_of(i)}")
            values = [value for value, _ in pairs]
            y = ctx.call(*values, **kwargs)
            if ctx.failure is not None:
                raise ctx.failure
            hand_out(ctx, y)
            return left(ctx, values, duals, y)


def name_of(index: int) -> str:
    """Return how messages name an argument, the function being number 0."""
    return "the function" if index == 0 else f"argument {index - 1}"


def left(ctx: ForwardContext, values: list[Any], duals: Any, y: Any) -> Dual:
    """Bring arguments and output to plain numbers, and tangents to what they are at the end."""
    settler, tangents = TangentSettler(ctx), Tangents(ctx)
    for i, (value, dual) in enumerate(zip(values, duals, strict=True)):
        _, tree = settler.visit(value)
        if type(dual.tangent) is not NoTangent:
            tangents.tangent(tree, dual.tangent)
        elif has_tangent(ctx, tree, set()):
            raise InvalidTangentError(
                f"{name_of(i)} was given NoTangent(), and the function has written an active value "
                "into it",
                why="its tangent would be lost",
                fix="pass zero_tangent(x) for arguments that the function changes",
            )
    primal, tree = settler.visit(y)
    return Dual(primal, tangents.tangent(tree, None))


def has_tangent(ctx: ForwardContext, tree: Any, seen: set[int]) -> bool:
    """Return whether anything has a tangent that is not zero."""
    if type(tree) is Active:
        return bool(tree.grad != 0)
    if isinstance(tree, ndarray):
        tangent = ctx.blocks.tangent_of(tree)
        return tangent is not None and bool(np.any(tangent))
    if type(tree) is not TangentTree or id(tree) in seen:
        return False
    seen.add(id(tree))
    return any(has_tangent(ctx, part, seen) for part in tree.parts.values())
