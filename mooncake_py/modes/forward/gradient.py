"""Gradients by forward mode: along each real number of the chosen arguments, several in a pass.

This is for functions of a few numbers: there is no tape, so the memory is that of the function, for
a run of any length.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.application.gradients import Known
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
from mooncake_py.modes.forward.several import AT_ONCE, give_along, read_along, stacked_context
from mooncake_py.modes.reverse.settings import Settings, settings
from mooncake_py.recomputation.agreement import Runs
from mooncake_py.recomputation.structures import gathered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.tangents.subclasses import plain_parts

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
    firsts = first_of_each(leaves.found)
    todo = [
        list(directions(k, leaf)) if first is known else []
        for k, ((leaf, known), first) in enumerate(zip(leaves.found, firsts, strict=True))
    ]
    result, found = along_all(outer, settings(debug), call, list(chain(*todo)))
    rest = iter(found)
    for own, (leaf, known), first in zip(todo, leaves.found, firsts, strict=True):
        if first is not known:
            known.gradient = first.gradient
            continue
        layout = (leaf.shape, leaf.dtype) if issubclass(type(leaf), ndarray) else (None, None)
        how = (list(islice(rest, len(own))), leaf.__class__, *layout)
        known.gradient = gathered(*how) if outer is None else outer.call(gathered, *how)
    return result if call.has_aux else result[0], call.gradients(trees)


def first_of_each(found: list[tuple[Any, Known]]) -> list[Known]:
    """Return for each leaf what takes its gradient: of an array held twice, there is one."""
    firsts: dict[int, Known] = {}
    return [
        firsts.setdefault(id(leaf), known) if issubclass(type(leaf), ndarray) else known
        for leaf, known in found
    ]


def along_all(
    outer: Mode | None, checked: Settings | None, call: Call, todo: list[Direction]
) -> tuple[Any, list[Any]]:
    """Return the result of a function, and its slopes along all directions.

    Several share a run if nothing is outside, nothing is checked, and the function lets them.
    """
    draws, runs = Draws(), Runs(call.f)  # with the same random numbers
    together = outer is None and checked is None
    result: Any = None
    slopes: list[Any] = []
    while len(slopes) < len(todo) or runs.first is None:
        rest = todo[len(slopes) :][: AT_ONCE if together else 1]
        whole = runs.first is None
        with draws.run(), runs.run():
            if len(rest) > 1:
                here, found = along_several(call, rest, whole)
                together = len(found) == len(rest)
            else:
                here, slope = along(outer, checked, call, rest[0] if rest else None, whole)
                found = [slope] if rest else []
        runs.agree(here[0], found, (call.args, call.kwargs))
        result = here if whole else result
        slopes += found
    return result, slopes


def directions(number: int, leaf: Any) -> Iterator[Direction]:
    """Yield the unit vectors of a number or an array; of a complex one those of both parts."""
    ones = (1.0, 1.0j) if np.iscomplexobj(unwrapped(leaf)) else (1.0,)
    for element in range(leaf.size if issubclass(type(leaf), ndarray) else 1):
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
        value, aux = value_of(ctx, call, output, whole)
        slope = slope_of(ctx, value_and_auxiliary(call, output)[0])
        ctx.roll_back()
    return (value, aux), slope


def along_several(call: Call, todo: list[Direction], whole: bool) -> tuple[Any, list[Any]]:
    """Run a function along several directions, or along the first if it lets no more through."""
    ctx = stacked_context(len(todo))
    with InputLifter(ctx) as lifter, guarded(ctx):
        args, kwargs, _ = call.lift(lifter)
        give_along(ctx, lifter, lambda k: give_unit(ctx, lifter, todo[k]))
        output = run_forward(ctx, call.f, args, kwargs)
        value, aux = value_of(ctx, call, output, whole)
        slopes = read_along(ctx, lambda: slope_of(ctx, value_and_auxiliary(call, output)[0]))
        ctx.roll_back()
    return (value, aux), slopes


def value_of(ctx: ForwardContext, call: Call, output: Any, whole: bool) -> tuple[Any, Any]:
    """Return the value of a function, and its auxiliary output."""
    output, aux = value_and_copy(ctx, call, output) if whole else value_and_auxiliary(call, output)
    return scalar_value(call.f, output), aux


def slope_of(ctx: ForwardContext, value: Any) -> Any:
    """Return the tangent of a number that may stand in an array."""
    _, slope = ctx.split(plain_parts(value))
    return 0.0 if slope is None else np.array(slope)[()]


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
            output, aux = value_and_auxiliary(call, run_moved(ctx, lifter, call, direction))
            output = plain_parts(output)
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
        give_unit(ctx, lifter, direction)
    return run_forward(ctx, call.f, args, kwargs)


def give_unit(ctx: ForwardContext, lifter: InputLifter, direction: Direction) -> None:
    """Give a unit tangent in a direction to what was lifted."""
    node = lifter.nodes[direction.leaf]
    if type(node) is Active:
        kind = node.__class__
        node.grad = kind(direction.one)
    else:
        tangent = ctx.blocks.activate(node)
        index = np.unravel_index(direction.element, node.shape)
        ctx.write(tangent, tuple(map(int, index)), direction.one)
