"""Gradients by forward mode: one pass along each real number of the chosen arguments.

For functions of a few numbers: nothing is kept for a reverse pass, so that the memory is that of
the function, however long it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.apart import guard
from mooncake_py.boundary.arguments import Call, name_of
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.inner_outputs import Leaves
from mooncake_py.boundary.outputs import run as run_forward
from mooncake_py.boundary.outputs import scalar_value, value_and_auxiliary, value_and_copy
from mooncake_py.language.draws import Draws
from mooncake_py.modes.forward.call import forward_context
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.forward.lift import InputLifter
from mooncake_py.modes.reverse.settings import Settings, settings
from mooncake_py.recomputation.agreement import Runs
from mooncake_py.recomputation.structures import gathered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.enclosing import enclosed

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["run"]


class Direction(NamedTuple):
    """A unit vector: the number of a leaf of the arguments, an element of it, and 1 or i."""

    leaf: int
    element: int
    one: float | complex


def run(outer: Mode | None, debug: bool, call: Call) -> tuple[Any, tuple[Any, ...]]:
    """Return the result, and the gradients for the chosen arguments, inside what runs outside."""
    leaves = Leaves(outer)
    _, _, trees = call.lift(leaves)
    checked = settings(debug)
    draws, runs = Draws(), Runs(call.f)  # with the same random numbers
    result: Any = None
    first = True
    for number, (leaf, known) in enumerate(leaves.found):
        slopes: list[Any] = []
        for direction in directions(number, leaf):
            with draws.run():
                here, slope = along(outer, checked, call, direction, first)
            runs.agree(here[0])
            slopes.append(slope)
            if first:
                result, first = here, False
        kind = leaf.__class__
        how = (
            (slopes, kind, leaf.shape, leaf.dtype)
            if isinstance(leaf, ndarray)
            else (slopes, kind, None, None)
        )
        known.gradient = gathered(*how) if outer is None else outer.call(gathered, *how)
    if first:  # empty arrays only
        result, _ = along(outer, checked, call, None, True)
    return result if call.has_aux else result[0], call.gradients(trees)


def directions(number: int, leaf: Any) -> Iterator[Direction]:
    """Yield the unit vectors of a number or an array; of a complex one those of both parts."""
    ones = (1.0, 1.0j) if np.iscomplexobj(unwrapped(leaf)) else (1.0,)
    for element in range(leaf.size if isinstance(leaf, ndarray) else 1):
        for one in ones:
            yield Direction(number, element, one)


def along(
    outer: Mode | None,
    checked: Settings | None,
    call: Call,
    direction: Direction | None,
    whole: bool,
) -> tuple[Any, Any]:
    """Run a function along a direction; return its result, value and `aux`, and its slope.

    Unless the `whole` result is wanted, `aux` is not copied.
    """
    if outer is not None:
        return along_inside(outer, call, direction, whole)
    ctx = forward_context(checked, call.f, call.args, call.kwargs)
    with InputLifter(ctx) as lifter, guarded(ctx):
        output = run_moved(ctx, lifter, call, direction)
        if whole:
            output, aux = value_and_copy(ctx, call, output)
        else:
            output, aux = value_and_auxiliary(call, output)
        value = scalar_value(call.f, output)
        _, slope = ctx.split(output)
        slope = 0.0 if slope is None else np.array(slope)[()]
        ctx.roll_back()
    return (value, aux), slope


def along_inside(
    outer: Mode, call: Call, direction: Direction | None, whole: bool
) -> tuple[Any, Any]:
    """Do so inside another derivative, which follows the result and the slope."""
    # Only where derivatives nest.
    from mooncake_py.nesting.inside import run_inside

    def forward(below: Mode) -> Any:
        ctx = ForwardContext(below, plain=False)
        guard(ctx)
        with InputLifter(ctx) as lifter, enclosed(None):
            output = run_moved(ctx, lifter, call, direction)
            output, aux = value_and_auxiliary(call, output)
        scalar_value(call.f, unwrapped(output))
        _, slope = ctx.split(output)
        return (output, aux if whole else None), 0.0 if slope is None else slope

    return run_inside(outer, name_of(call.f), forward)


def run_moved(
    ctx: ForwardContext, lifter: InputLifter, call: Call, direction: Direction | None
) -> Any:
    """Run a function with the chosen arguments active, and a unit tangent in a direction."""
    args, kwargs, _ = call.lift(lifter)
    if direction is not None:
        node = lifter.nodes[direction.leaf]
        if type(node) is Active:
            kind = node.__class__
            node.grad = kind(direction.one)
        else:
            tangent = ctx.blocks.activate(node)
            index = np.unravel_index(direction.element, node.shape)
            ctx.write(tangent, tuple(map(int, index)), direction.one)
    return run_forward(ctx, call.f, args, kwargs)
