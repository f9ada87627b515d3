"""Arrays made from sequences: their tangents come from those of the parts, in one call.

The transpose of the reverse rule, which also works here, took as long as about forty operations on
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.modes.forward import pushforward
from mooncake_py.rules import registry
from mooncake_py.rules.creation import assemble
from mooncake_py.runtime import drops
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import NUMBERS, is_inexact

if TYPE_CHECKING:
    from mooncake_py.by_identity import ByIdentity
    from mooncake_py.modes.forward.context import ForwardContext
    from mooncake_py.runtime.mode import Handler

__all__ = ["with_sequences"]

SCALARS = frozenset({Active, *NUMBERS})
DTYPE = {"dtype"}
REAL = (float, np.float64)
"""Types of elements; others may have a shape of their own, or be no numbers."""


def with_sequences(handlers: ByIdentity[Handler]) -> ByIdentity[Handler]:
    """Return a table of handlers in which arrays are made of sequences this way.

    Rules that users declare in place of ours stay.
    """
    made = {f: handlers[f] for f in (np.array, assemble) if is_ours(f)}
    handlers.update({f: before(handler) for f, handler in made.items()})
    return handlers


def is_ours(f: Callable[..., Any]) -> bool:
    """Return whether the rule of a function is one of this package."""
    rule = registry.find(f)
    return rule is not None and rule.built_in


def before(handler: Any) -> Handler:
    """Return a handler of sequences of numbers and arrays, which leaves the rest.

    As to numbers, it still applies the rule and does nothing else.
    """

    def run(ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
        if 0 < len(args) <= 2 and (f is assemble or not kwargs.keys() - DTYPE):
            dtype = args[1] if len(args) == 2 else kwargs.get("dtype")
            if (dtype is None or dtype in REAL) and is_sequence(args[0]):
                return of_sequence(ctx, args[0], kwargs | {"dtype": dtype})
        return handler(ctx, f, args, kwargs)

    served: Any = run
    served.applies = handler.applies
    return served


def is_sequence(value: Any) -> bool:
    """Return whether a value is a list or a tuple of numbers, arrays and similar sequences."""
    return (type(value) is list or type(value) is tuple) and all(
        type(part) in SCALARS
        or (part.dtype.kind in "fciub" if type(part) is ndarray else is_sequence(part))
        for part in value
    )


def of_sequence(ctx: ForwardContext, sequence: Any, kwargs: Any) -> Any:
    """Return an array made of a sequence, with its tangent."""
    make = np.array if ctx.plain else partial(ctx.base.call, np.array)
    y = make(ctx.primal(sequence), **kwargs)
    if not any(moves(ctx, part) for part in sequence):
        return y
    if not is_inexact(y):
        return drops.output(ctx, registry.find(assemble), y, (ctx.primal(sequence),))
    return ctx.fresh(y, ctx.lower(pushforward.of_sequence, tangents_of(ctx, sequence), y))


def moves(ctx: ForwardContext, part: Any) -> bool:
    """Return whether a part of a sequence has a tangent."""
    if type(part) is list or type(part) is tuple:
        return any(moves(ctx, inner) for inner in part)
    return ctx.pair(part)[1] is not None


def tangents_of(ctx: ForwardContext, value: Any) -> Any:
    """Return the tangents of the parts of a sequence, zeros where they have none."""
    if type(value) is list or type(value) is tuple:
        return [tangents_of(ctx, part) for part in value]
    t = ctx.pair(value)[1]
    if t is not None:
        return t
    return np.zeros(value.shape) if type(value) is ndarray else 0.0
