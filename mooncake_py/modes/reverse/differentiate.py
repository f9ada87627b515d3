"""One forward and one reverse pass: the value and the gradient of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.lift import Lifter
from mooncake_py.boundary.apart import ArgumentsApart, stand_ins
from mooncake_py.boundary.arguments import ArgNums, Call, choose_arguments
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.outputs import run as run_forward
from mooncake_py.boundary.outputs import scalar_value, value_and_copy
from mooncake_py.boundary.overwritten import note_overwritten
from mooncake_py.errors import MooncakeError
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.settings import new_context, settings
from mooncake_py.modes.reverse.whole_or_parts import whole_or_parts
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.tangents.subclasses import plain_parts

if TYPE_CHECKING:
    from mooncake_py.modes.reverse.storage import Workspace
    from mooncake_py.runtime.mode import Mode

__all__ = ["gradient_of_first", "run_both_ways", "value_and_gradient"]


def value_and_gradient(
    f: Callable[..., Any],
    argnums: ArgNums,
    has_aux: bool,
    debug: bool,
    args: Any,
    kwargs: Any,
    by: Callable[..., Any] | None = None,
    workspace: Workspace | None = None,
) -> tuple[Any, Any]:
    """Run `f` forward and backward, or `by` a function with the parameters of :func:`run`.

    If both ways are compiled, they may run in a workspace.
    """
    outer = enclosing()
    chosen = choose_arguments(f, argnums, args, kwargs)
    unique = list(dict.fromkeys(chosen)) if len(chosen) > 1 else chosen

    def whole(*, in_text: bool) -> tuple[Any, tuple[Any, ...]] | None:
        # Only where functions run whole.
        from mooncake_py.modes.reverse.whole import gradient_of_whole

        return gradient_of_whole(f, unique, has_aux, args, kwargs, workspace, in_text)

    def in_parts() -> tuple[Any, tuple[Any, ...]]:
        # Limits are raised also for the gradients, whose structure may be deep.
        try:
            with limits_raised(), ArgumentsApart(f, unique, args, kwargs) as apart:
                call = Call(f, unique, has_aux, apart.args, apart.kwargs, apart.own_copies)
                return (by or run)(outer, debug, call)
        except MooncakeError as error:
            if not stand_ins or by is not None or outer is not None:
                raise
            return stand_ins[-1](error, Call(f, unique, has_aux, args, kwargs, []))

    if by is None:
        result, gradients = whole_or_parts(
            "gradient", f, (*args, *kwargs.values()) if kwargs else args, whole, in_parts, debug
        )
    else:
        result, gradients = in_parts()
    if len(unique) < len(chosen):
        gradients = tuple([gradients[unique.index(key)] for key in chosen])
    return result, gradients if isinstance(argnums, tuple) else gradients[0]


def run(outer: Mode | None, debug: bool, call: Call) -> tuple[Any, tuple[Any, ...]]:
    """Return the result, and the gradients for the chosen arguments, inside what runs outside."""
    if outer is None:
        checked = settings(debug)
        ctx = new_context(checked, call.f, call.args, call.kwargs)
        if checked is None:  # else it is checked whether all that is overwritten is restored
            for a in call.copies:
                ctx.registry.note_new(a)
        found = run_both_ways(ctx, call)
        arguments = (*enumerate(call.args), *call.kwargs.items())
        note_overwritten(call.f, arguments, ctx.registry, call.copies)
        return found
    # Only where derivatives nest.
    from mooncake_py.nesting.inside import gradient_inside

    return gradient_inside(outer, debug, call)


def gradient_of_first(f: Callable[..., Any], *args: Any) -> Any:
    """Return the gradient of `f` with respect to its first argument."""
    return value_and_gradient(f, 0, False, False, args, {})[1]


def run_both_ways(
    ctx: ReverseContext, call: Call, counts: bool = True
) -> tuple[Any, tuple[Any, ...]]:
    """Return the result, and the gradient for each of the chosen arguments.

    If the value does not count, all the same runs backwards, without a cotangent of it.
    """
    with Lifter(ctx) as lifter, guarded(ctx):
        args, kwargs, trees = call.lift(lifter)
        output = run_forward(ctx, call.f, args, kwargs)
        output, aux = value_and_copy(ctx, call, output)
        lifter.settle(ctx.tape)
        value = scalar_value(call.f, output)
        output = plain_parts(output)
        if not counts:
            pass
        elif type(output) is Active:
            output.add(1.0)
        elif type(output) is ndarray and (node := ctx.find(output)) is not None:
            node.add_shared(np.ones(output.shape, output.dtype))
        ctx.run_backwards()
    return (value, aux) if call.has_aux else value, call.gradients(trees)
