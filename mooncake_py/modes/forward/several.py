"""The output of a function and its tangents along several directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from mooncake_py.application.gradients import gradient_of
from mooncake_py.boundary.apart import ArgumentsApart, guard
from mooncake_py.boundary.arguments import refuse_foreign
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.outgoing import independent
from mooncake_py.boundary.outputs import run
from mooncake_py.language.draws import Draws
from mooncake_py.modes.forward.call import give_all, push_forward
from mooncake_py.modes.forward.duals import TangentReader
from mooncake_py.modes.forward.lift import InputLifter, apart_from, moves
from mooncake_py.modes.forward.stacked import StackedContext
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.settings import settings
from mooncake_py.recomputation.agreement import Runs
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.silence import silent

__all__ = ["AT_ONCE", "give_along", "push_forward_along", "read_along", "stacked_context"]

AT_ONCE = 16
"""Directions of one run: the arrays of a function have as many tangents, which take memory."""


def push_forward_along(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    directions: Sequence[tuple[Any, ...]],
    compared: Callable[[Any], Any] | None = None,
) -> tuple[Any, list[Any]]:
    """Return the output and a tangent for each direction; everything is then as it was before.

    The function runs once for some directions together, unless it does what only one tangent goes
    through, a derivative is taken inside another one, or all is checked.  Then it runs once for
    each direction, with the same random numbers.
    """
    directions = [apart_from(primals, tangents) for tangents in directions]
    draws, runs = Draws(), Runs(f)
    together = enclosing() is None and settings() is None
    y: Any = None
    tangents: list[Any] = []
    while len(tangents) < len(directions) or not runs.first:
        rest = directions[len(tangents) :][: AT_ONCE if together else 1]
        # The first run has printed and warned.
        with draws.run(), runs.run(), silent() if tangents else nullcontext():
            if len(rest) > 1:
                y, found = along_each(f, primals, rest, len(tangents))
                together = len(found) == len(rest)
            else:
                direction = rest[0] if rest else (None,) * len(primals)
                y, dy = push_forward(f, primals, direction, name_of_direction(len(tangents)))
                found = [dy] if rest else []
        runs.agree(y if compared is None else compared(y), found, primals)
        tangents += found
    return y, tangents


def along_each(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    directions: Sequence[tuple[Any, ...]],
    first: int,
) -> tuple[Any, list[Any]]:
    """Run a function along several directions; return its output and the tangents.

    There is one, along the first direction, if that was all the function could be run along.  In
    messages the number of that direction is `first`.
    """
    chosen = [i for i in range(len(primals)) if any(moves(t[i]) for t in directions)]
    for i in chosen:
        refuse_foreign(f, i, primals[i])
    with ArgumentsApart(f, chosen, primals, {}) as apart:
        return pushed_along(f, apart.args, directions, first)


def name_of_direction(k: int) -> str:
    """Return how messages call a direction among several."""
    return f"tangents[{k}]"


def pushed_along(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    directions: Sequence[tuple[Any, ...]],
    first: int,
) -> tuple[Any, list[Any]]:
    """Do so for arguments that are their own memory."""
    ctx = stacked_context(len(directions))
    with InputLifter(ctx) as lifter, guarded(ctx):
        pairs = [
            lifter.visit(a) if any(moves(t[i]) for t in directions) else (a, None)
            for i, a in enumerate(args)
        ]
        trees = [tree for _, tree in pairs]

        def give(k: int) -> None:
            give_all(ctx, trees, directions[k], name_of_direction(first + k))

        give_along(ctx, lifter, give)
        output = run(ctx, f, tuple([value for value, _ in pairs]), {})
        y = independent(ctx, output)
        tangents = read_along(ctx, lambda: tangent_of(ctx, output))
        ctx.roll_back()
    return y, tangents


def stacked_context(directions: int) -> StackedContext:
    """Return a context of forward mode along several directions."""
    base = ReverseContext()
    guard(base)
    ctx = StackedContext(base, directions)
    ctx.is_last = True
    guard(ctx)
    return ctx


def give_along(ctx: StackedContext, lifter: InputLifter, give: Callable[[int], None]) -> None:
    """Give tangents to lifted values: ``give(k)`` gives those along one direction."""
    numbers = [node for node in lifter.nodes if type(node) is Active]
    given: list[list[Any]] = [[] for _ in numbers]
    if not all(type(node) is Active or ctx.blocks.can_hold(node) for node in lifter.nodes):
        ctx.keep_first()
    for k in ctx.range if ctx.blocks.several else (0,):
        with ctx.blocks.along(k):
            give(k)
        for node, found in zip(numbers, given, strict=True):
            found.append(node.grad)
            node.grad = 0.0
    for node, found in zip(numbers, given, strict=True):
        node.grad = np.array(found)


def read_along(ctx: StackedContext, read: Callable[[], Any]) -> list[Any]:
    """Return the results of reading along each direction that is left."""
    found: list[Any] = []
    for k in ctx.range if ctx.blocks.several else (0,):
        with ctx.blocks.along(k):
            found.append(read())
    return found


def tangent_of(ctx: StackedContext, output: Any) -> Any:
    """Return the tangent of an output along the present direction."""
    _, tree = TangentReader(ctx).visit(output)
    return gradient_of(output, tree, {})
