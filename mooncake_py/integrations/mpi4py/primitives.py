"""Communication primitives within a derivative, in terms of which all rules are written.

Each of these functions is linear.  Its handler always communicates, on the way back too, whether
or not anything is active on this rank: the other end cannot know.  In forward mode a tangent
travels with its primal, in the same message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

from mooncake_py.integrations.mpi4py.links import Receiving, Sending
from mooncake_py.integrations.mpi4py.operations import Operation
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.mode import Mode
from mooncake_py.runtime.pulls import deliver

__all__ = ["collected", "finish_receive", "finish_send", "natively", "start_receive", "start_send"]

F = TypeVar("F", bound=Callable[..., Any])


def collected(operation: Operation, x: ndarray) -> ndarray:
    """Return the result of a collective operation on this rank."""
    return operation.run(x)


def start_send(link: Sending, x: ndarray) -> None:
    """Begin to send rows."""
    link.start(x)


def finish_send(link: Sending) -> None:
    """Wait until they have left."""
    link.finish()


def start_receive(link: Receiving, depth: int = 0) -> None:
    """Begin to receive rows, with so many levels of tangents."""
    link.start(depth)


def finish_receive(link: Receiving) -> ndarray:
    """Return the rows when they are there."""
    return link.finish()


def natively(f: F) -> F:
    """Let a function run once, as it is, on numbers and arrays that no derivative follows."""

    def run(ctx: Mode, *args: Any, **kwargs: Any) -> Any:
        if not ctx.contains_active((args, kwargs)):
            return f(*args, **kwargs)  # what stands twice in them stays one object
        return f(*map(unwrapped, args), **unwrapped(kwargs))

    contextual(f)(run)
    return f


# Tangents travel with primals.


def beside(ctx: ForwardContext, x: Any) -> Any:
    """Return an array of the context below: the elements, each with its tangent."""
    ctx.keep_first()
    p, t = ctx.split(x)
    return ctx.lower(pair_of, p, t)


def pair_of(p: ndarray, t: ndarray | None) -> ndarray:
    """Return primals with their tangents."""
    return np.stack([p, np.zeros_like(p) if t is None else t], axis=-1)


def apart(ctx: ForwardContext, pairs: Any) -> Any:
    """Return an array with its tangent."""
    y, t = ctx.lower(parts_of, pairs)
    return ctx.fresh(y, t)


def parts_of(pairs: ndarray) -> tuple[ndarray, ndarray]:
    """Return primals and tangents."""
    return pairs[..., 0].copy(), pairs[..., 1].copy()


def is_followed(x: Any) -> bool:
    """Return whether numbers of this type have derivatives."""
    return x.dtype.kind in "fc"


# Outer derivatives, too, must know that a function depends on data from other ranks.

TOKEN = np.zeros(1)


def depend(ctx: ReverseContext) -> None:
    """Make a call depend on what is active in the calls round it: other ranks may send that."""
    reversed_ones = [c for c in ctx.outers if isinstance(c, ReverseContext) and c.is_reversed]
    if reversed_ones:
        reversed_ones[-1].registry.activate(TOKEN)
        ctx.find(TOKEN)


# Rules.


@contextual(collected)
def collected_inside(ctx: Mode, operation: Operation, x: Any) -> Any:
    """Run a collective operation, and its transpose on the way back."""
    if not is_followed(x):
        return operation.run(x)
    if isinstance(ctx, ForwardContext):
        return apart(ctx, ctx.lower(collected, operation, beside(ctx, x)))
    assert isinstance(ctx, ReverseContext)
    depend(ctx)
    result, out = ctx.fresh_output(operation.run(x))
    ctx.record((pull_collected, out, operation, (result.shape, x.dtype), ctx.find(x)))
    return result


def pull_collected(entry: tuple[Any, ...]) -> None:
    """Reverse of a collective operation."""
    _, out, operation, (shape, dtype), node = entry
    g = out.take()
    c = operation.transposed(np.zeros(shape, dtype) if g is None else g)
    if node is not None:
        deliver(node, c, None)


@contextual(start_send)
def start_send_inside(ctx: Mode, link: Sending, x: Any) -> None:
    """Begin to send; end to receive the cotangent on the way back."""
    if not is_followed(x):
        link.start(x)
    elif isinstance(ctx, ForwardContext):
        ctx.lower(start_send, link, beside(ctx, x))
    else:
        assert isinstance(ctx, ReverseContext)
        depend(ctx)
        link.is_outermost = not ctx.outers
        link.start(x)
        ctx.record((pull_start_send, link, ctx.find(x)))


def pull_start_send(entry: tuple[Any, ...]) -> None:
    """Add the cotangent that has come back."""
    _, link, node = entry
    c = link.collect()
    if c is not None and node is not None:
        deliver(node, c, None)


@contextual(finish_send)
def finish_send_inside(ctx: Mode, link: Sending) -> None:
    """End to send; begin to receive the cotangent on the way back."""
    if isinstance(ctx, ForwardContext):
        ctx.lower(finish_send, link)
        return
    assert isinstance(ctx, ReverseContext)
    link.finish()
    if is_followed(link):
        ctx.record((pull_finish_send, link))


def pull_finish_send(entry: tuple[Any, ...]) -> None:
    """Begin to receive the cotangent, long before it is needed."""
    entry[1].expect()


@contextual(start_receive)
def start_receive_inside(ctx: Mode, link: Receiving, depth: int = 0) -> None:
    """Begin to receive."""
    if isinstance(ctx, ForwardContext) and is_followed(link):
        ctx.keep_first()
        ctx.lower(start_receive, link, depth + 1)
        return
    link.start(depth)
    if isinstance(ctx, ReverseContext):
        link.is_outermost = not ctx.outers
        ctx.record((pull_start_receive, link))


def pull_start_receive(entry: tuple[Any, ...]) -> None:
    """Answer what the program has never waited for, so that nobody waits; it is an error."""
    link = entry[1]
    if not link.finished:
        link.neglect()


@contextual(finish_receive)
def finish_receive_inside(ctx: Mode, link: Receiving) -> Any:
    """End to receive; send the cotangent on the way back."""
    if not is_followed(link):
        return link.finish()
    if isinstance(ctx, ForwardContext):
        return apart(ctx, ctx.lower(finish_receive, link))
    assert isinstance(ctx, ReverseContext)
    depend(ctx)
    result, out = ctx.fresh_output(link.finish())
    ctx.record((pull_finish_receive, out, link, (result.shape, result.dtype)))
    return result


def pull_finish_receive(entry: tuple[Any, ...]) -> None:
    """Send the cotangent of what was received."""
    _, out, link, (shape, dtype) = entry
    g = out.take()
    link.give(np.zeros(shape, dtype) if g is None else g)
