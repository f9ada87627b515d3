"""Hooks: functions that inspect or change the cotangent of a value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from mooncake_py.boundary.followed import FollowedCopier
from mooncake_py.boundary.hooked import hooked
from mooncake_py.errors import NestedDerivativeError
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.rules import registry
from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.mode_of import is_forward
from mooncake_py.utilities.copies import plain_copy
from mooncake_py.utilities.effects import Apart
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.runtime.mode import Mode

__all__ = ["hook"]

T = TypeVar("T")


def hook(fn: Callable[[Any], Any], x: T) -> T:
    """Return a copy of `x` to whose cotangent the reverse pass applies a function.

    Parameters
    ----------
    fn : callable
        Called in the reverse pass, once for each call of `hook`, with the cotangent of the copy:
        zero for unused parts, ``NoTangent()`` for constant parts.  It returns the new cotangent, or
        None to keep its argument, including in-place changes.  It runs natively, without being
        differentiated, and arrays and objects that it has captured have the values that they had at
        the call of `hook`.  What it writes into an array that the derivative has used, its later
        calls see, and everyone when the derivative has ended.  It is not called if `x` is constant.
    x : object
        A number, an array, or lists, dicts, tuples and objects of these.  The cotangent has the
        structure of a gradient with respect to `x`.

    Returns
    -------
    object
        A copy in new memory, also in a plain call.  To hook an array that is used in place, copy
        the result back: ``x[...] = hook(fn, x)``.

    Raises
    ------
    InvalidTangentError
        In the reverse pass, if the result of `fn` does not fit `x`.
    NestedDerivativeError
        In a derivative of higher order, because `fn` has no derivative.  Forward mode has no
        cotangents, and never calls `fn`.

    Examples
    --------
    >>> from mooncake_py import grad, hook
    >>> grad(lambda a, b: hook(lambda g: -g, a) * b)(2.0, 3.0)
    -3.0
    >>> grad(lambda a: hook(print, a) * a)(2.0)  # of the first factor alone
    2.0
    4.0
    """
    require_function(fn)
    return plain_copy(x)


def require_function(fn: Any) -> None:
    """Raise if the hook is not a function."""
    if not callable(fn):
        raise TypeError(
            f"hook(fn, x) takes a function first, not {with_article(type(fn).__name__)}"
        )


@contextual(hook)
def hook_inside(ctx: Mode, fn: Callable[[Any], Any], x: T) -> T:
    """Record the hook inside a derivative."""
    require_function(fn)
    if not isinstance(ctx, ReverseContext):
        if is_reversed(ctx) and ctx.contains_active(x):
            raise second_order(ctx)
        return FollowedCopier(ctx, keep_views=False).copy_whole(x)
    return hooked(ctx, registry.find(hook), fn, x, partial(Apart, ctx, fn))


def is_reversed(ctx: Mode) -> bool:
    """Return whether a forward pass is itself recorded, to be reversed."""
    return not is_forward(ctx) or (not ctx.is_last and is_reversed(ctx.base))


def second_order(ctx: Reporting) -> NestedDerivativeError:
    """Return the error for a hook in a derivative of higher order."""
    error = NestedDerivativeError(
        "a hook ran in a derivative of higher order",
        where=ctx.user_location(),
        why="its effect on a cotangent is not a part of the function, and has no derivative",
        fix="leave it out there, for example: x = hook(fn, x) if nest_level() == 1 else x",
    )
    ctx.failed(error)
    return error
