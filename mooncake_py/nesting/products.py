"""Products with a Hessian: reverse mode over forward mode, in one run outside of derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.gradients import gradient_of
from mooncake_py.application.lift import Lifter
from mooncake_py.boundary.apart import guard
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.inner_outputs import Leaves
from mooncake_py.boundary.outputs import run, scalar_value, seed
from mooncake_py.modes.forward.call import lifted, run_over
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.forward.lift import InputLifter, apart_from
from mooncake_py.modes.reverse.settings import new_context, settings
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.enclosing import enclosed, enclosing
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.tangents.subclasses import plain_parts

if TYPE_CHECKING:
    from mooncake_py.modes.reverse.context import ReverseContext
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["hessian_product", "value_gradient_and_product"]


def hessian_product(
    f: Callable[..., Any], function: Callable[..., Any], values: Any, tangents: Any
) -> Any:
    """Return ``function(values)``, and the gradient of its derivative along tangents.

    `f` is what the user calls it.  None inside another derivative, where this way is not open.
    """
    if enclosing() is not None:
        return None
    (tangents,) = apart_from((values,), (tangents,))
    ctx = twice_derived(function, values)
    with limits_raised(), Lifter(ctx) as lifter, guarded(ctx):
        active, tree = lifter.visit(values)
        forward, output = run_over(ctx, function, (active,), (tangents,))
        value = run_back(f, ctx, forward, output)
    return value, gradient_of(values, tree, {})


def value_gradient_and_product(
    f: Callable[..., Any], function: Callable[..., Any], values: Any, tangents: Any
) -> Any:
    """Return the value, the gradient and the product; see :func:`hessian_product`.

    The derivative along v is <gradient, v>: its gradient with respect to v is the gradient, which
    the one reverse pass brings along if v is active too.
    """
    if enclosing() is not None:
        return None
    (tangents,) = apart_from((values,), (tangents,))
    ctx = twice_derived(function, values)
    with limits_raised(), Lifter(ctx) as lifter, guarded(ctx):
        active, tree = lifter.visit(values)
        forward = ForwardContext(ctx, plain=False)
        guard(forward)
        with InputLifter(forward) as inputs, enclosed(None):
            moved = lifted(forward, inputs, (active,), (tangents,))
            directions = [active_tangent(ctx, forward, node) for node in inputs.nodes]
            output = plain_parts(run(forward, function, moved, {}))
        value = run_back(f, ctx, forward, output)
    leaves = Leaves(None)
    _, gradient = leaves.visit(values)
    for (_, known), (tangent, node) in zip(leaves.found, directions, strict=True):
        known.gradient = gradient_of(tangent, node, {})
    return value, gradient_of(values, gradient, {}), gradient_of(values, tree, {})


def twice_derived(function: Callable[..., Any], values: Any) -> ReverseContext:
    """Return a context of reverse mode over whose forward mode a function runs: two derivatives."""
    ctx = new_context(settings(), function, (values,), {})
    ctx.nesting += 1
    return ctx


def active_tangent(ctx: Mode, forward: ForwardContext, node: Any) -> tuple[Any, Any]:
    """Make the tangent of a number or an array active below; return it and its node there."""
    if type(node) is not Active:
        tangent = forward.blocks.activate(node)
        return tangent, ctx.registry.activate(tangent)
    kind = node.__class__
    node.grad = active_number(kind(0.0 if node.grad is None else node.grad), ctx)
    return node.grad, node.grad


def run_back(f: Callable[..., Any], ctx: ReverseMode, forward: ForwardContext, output: Any) -> Any:
    """Run the reverse pass of the derivative along a direction; return the value."""
    primal, tangent = forward.split(output)
    value = scalar_value(f, unwrapped(primal))
    if tangent is not None:
        one = np.ones(tangent.shape) if type(tangent) is ndarray else 1.0
        seed(ctx, tangent, one, "dy")
    ctx.run_backwards()
    return value
