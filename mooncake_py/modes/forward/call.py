"""Entry points of forward mode: run a function on primals with tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.gradients import gradient_of
from mooncake_py.boundary.apart import ArgumentsApart, guard
from mooncake_py.boundary.arguments import name_of, refuse_foreign
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.outgoing import independent
from mooncake_py.boundary.outputs import run
from mooncake_py.boundary.overwritten import note_overwritten
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.forward.duals import TangentFinder, TangentReader, Tangents
from mooncake_py.modes.forward.lift import (
    TangentLifter,
    apart_from,
    give_tangent,
    moves,
    require_one_tangent,
)
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.settings import Settings, new_context, settings
from mooncake_py.runtime.enclosing import enclosed, enclosing
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.tangents import NoTangent
from mooncake_py.tangents.subclasses import plain_parts

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["push_forward", "push_state_forward", "run_over"]


def push_forward(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    name: str = "tangents",
) -> tuple[Any, Any]:
    """Return the output of a function and its tangent; everything is then as it was before.

    Messages call the tangents by the `name`.
    """
    tangents = apart_from(primals, tangents)
    chosen = [i for i, t in enumerate(tangents) if moves(t)]
    for i in chosen:
        refuse_foreign(f, i, primals[i])
    with ArgumentsApart(f, chosen, primals, {}) as apart:
        return pushed(f, apart.args, tangents, apart.own_copies, name)


def pushed(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    copies: Sequence[ndarray],
    name: str,
) -> tuple[Any, Any]:
    """Return the output and its tangent, for arguments that are their own memory.

    The `copies` among them are for this call alone: nothing restores them.
    """
    outer = enclosing()
    if outer is not None:
        # Only where derivatives nest.
        from mooncake_py.boundary.inner_outputs import with_tangent
        from mooncake_py.nesting.inside import run_inside

        return run_inside(
            outer, name_of(f), lambda ctx: with_tangent(*run_over(ctx, f, primals, tangents, name))
        )
    ctx = forward_context(settings(), f, primals, {})
    for a in copies:
        ctx.note_new(a)
    with TangentLifter(ctx) as lifter, guarded(ctx):
        values = lifted(ctx, lifter, primals, tangents, name)
        output = run(ctx, f, values, {})
        y = independent(ctx, output)
        _, tree = TangentReader(ctx).visit(output)
        dy = gradient_of(output, tree, {})
        ctx.roll_back()
    note_overwritten(f, enumerate(primals), ctx.registry, copies)
    return y, dy


def forward_context(
    checked: Settings | None, f: Callable[..., Any], args: Any, kwargs: Any
) -> ForwardContext:
    """Return a context of forward mode with nothing active below.

    In debug mode the context below checks all that computes primals and tangents.
    """
    if checked is None:
        base = ReverseContext()
        guard(base)
    else:
        base = new_context(checked, f, args, kwargs)
    base.is_reversed = False
    ctx = ForwardContext(base, plain=checked is None)
    ctx.is_last = True
    guard(ctx)
    return ctx


def run_over(
    base: Mode, f: Callable[..., Any], primals: Any, tangents: Any, name: str = "tangents"
) -> tuple[Any, Any]:
    """Run a function in forward mode over a context; return the new context and the output."""
    ctx = ForwardContext(base, plain=False)
    guard(ctx)
    with TangentLifter(ctx) as lifter, enclosed(None):
        values = lifted(ctx, lifter, primals, tangents, name)
        return ctx, plain_parts(run(ctx, f, values, {}))


def push_state_forward(
    values: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...]
) -> tuple[Any, Any, tuple[Any, ...]]:
    """Run ``values[0](*values[1:], **kwargs)``; return output, its tangent, those of the values.

    The tangents have their tangent type, and are those after the run.  The values are afterwards
    as they were before.
    """
    ctx = ForwardContext(ReverseContext(), plain=True)
    with TangentLifter(ctx) as lifter, guarded(ctx):
        f, *args = lifted(ctx, lifter, values, tangents)
        output = run(ctx, f, args, kwargs)
        y = independent(ctx, output)
        finder, found = TangentFinder(ctx), Tangents(ctx, written=False)
        dy, *dxs = [
            t if type(t) is NoTangent else found.tangent(finder.visit(v)[1], None)
            for v, t in zip((output, f, *args), (None, *tangents), strict=True)
        ]
        ctx.roll_back()
    return y, dy, tuple(dxs)


def lifted(
    ctx: ForwardContext, lifter: TangentLifter, values: Any, tangents: Any, name: str = "tangents"
) -> Any:
    """Return values made active, with their tangents; what does not move stays as it is."""
    pairs = [
        lifter.visit(a) if moves(t) else (a, None) for a, t in zip(values, tangents, strict=True)
    ]
    give_all(ctx, [tree for _, tree in pairs], tangents, name)
    return tuple(v for v, _ in pairs)


def give_all(ctx: ForwardContext, trees: list[Any], tangents: Any, name: str) -> None:
    """Give its tangent to each of the values that were lifted; messages use the `name`."""
    ways = (give_tangent,) if are_apart(trees) else (give_tangent, require_one_tangent)
    for give in ways:
        for i, (tree, t) in enumerate(zip(trees, tangents, strict=True)):
            give(ctx, tree, t, f"{name}[{i}]")


def are_apart(trees: list[Any]) -> bool:
    """Return whether all arrays that were lifted are their own memory, each met once."""
    found: set[int] = set()
    todo = list(trees)
    while todo:
        tree = todo.pop()
        if type(tree) is TangentTree:
            todo += tree.parts.values()
        if isinstance(tree, (ndarray, TangentTree)):
            if id(tree) in found or (isinstance(tree, ndarray) and tree.base is not None):
                return False
            found.add(id(tree))
    return True
