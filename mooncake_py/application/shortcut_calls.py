"""Calls of NumPy's functions in Python that have a shortcut: see `rules.shortcuts`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.apply import vjp_of_flat
from mooncake_py.application.flat_operands import flat
from mooncake_py.rules.shortcuts import SHORTCUTS, VIEWS, VIEWS_OF_CONTIGUOUS, Shortcut, are_finite
from mooncake_py.runtime.quiet import Quiet, Unheard, is_strict

if TYPE_CHECKING:
    from collections.abc import Callable

    from mooncake_py.runtime.mode import Handler, Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["like", "recorded", "shortcut_handlers"]


def shortcut_handlers(
    handler: Callable[[Shortcut, Handler], Handler],
) -> dict[Any, Callable[[Handler], Handler]]:
    """Make handlers of functions with a shortcut, given the handlers of other calls.

    Parameters
    ----------
    handler : callable
        What a mode makes of a shortcut, and of the handler for other calls.
    """
    made = {f: partial(handler, rule) for f, rule in SHORTCUTS.items()}
    return {**made, **dict.fromkeys(VIEWS | VIEWS_OF_CONTIGUOUS, viewing)}


def recorded(rule: Shortcut, general: Handler) -> Handler:
    """Return the handler ``(context, function, args, kwargs)`` that records on the tape."""

    def run(ctx: ReverseMode, f: Any, args: Any, kwargs: Any) -> Any:
        given = flat(rule, ctx, f, args, kwargs)
        if given is None:
            return general(ctx, f, args, kwargs)
        with Quiet():
            serves = rule.takes(given.primals, given.nodes, given.kwargs)
        if not serves:
            return general(ctx, f, args, kwargs)
        with Unheard() as block:
            found = rule.rule(*given.primals, **given.kwargs)
            is_sound = are_finite(found[:1])
        if not is_sound:
            return general(ctx, f, args, kwargs)
        if block.noticed or is_strict():
            f(*given.primals, **given.kwargs)  # what NumPy has to say
        return vjp_of_flat(rule, ctx, given, found)

    return like(general, run)


def like(general: Handler, run: Handler) -> Handler:
    """Return a handler that says of itself what that for other calls says."""
    setattr(run, "applies", getattr(general, "applies", None))  # noqa: B010
    return run


def viewing(general: Handler) -> Handler:
    """Return the handler of a function that mostly returns views of an array: in any mode.

    What is active in the memory is known by its owner; there is nothing to record.
    """

    def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        a = args[0] if args else None
        if (
            type(a) is ndarray
            and a.dtype.kind in "fc"
            and ctx.has_gate
            and (f not in VIEWS_OF_CONTIGUOUS or a.flags.num & 1)  # contiguous in the order of C
            and all(map(is_place, args[1:]))
            and (not kwargs or all(map(is_place, kwargs.values())))
        ):
            y = f(*args, **kwargs)
            if are_views(y, a):
                return y
        return general(ctx, f, args, kwargs)

    return like(general, run)


def is_place(value: Any) -> bool:
    """Return whether an argument says which axes or places are meant."""
    t = type(value)
    return (
        t is int or t is str or ((t is tuple or t is list) and all(type(v) is int for v in value))
    )


def are_views(y: Any, a: ndarray) -> bool:
    """Return whether all that a function has returned is memory of an array."""
    if type(y) is ndarray:
        base = y.base
        return y is a or (base is not None and (base is a or base is a.base))
    return type(y) in (list, tuple) and len(y) > 0 and all(are_views(part, a) for part in y)
