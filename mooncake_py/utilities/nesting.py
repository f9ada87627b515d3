"""Queries: whether the running code is being differentiated, and at which nesting level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mooncake_py.rules.declare import contextual

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Tracking

__all__ = ["is_deriving", "nest_level"]


def is_deriving() -> bool:
    """Return whether the calling code is being differentiated.

    Returns
    -------
    bool
        False in a plain call, within :func:`ignore_derivatives`, and in a hook.

    Examples
    --------
    >>> from mooncake_py import grad, is_deriving
    >>> def f(x):
    ...     print("with" if is_deriving() else "without", "a derivative")
    ...     return x * x
    >>> f(3.0)
    without a derivative
    9.0
    >>> grad(f)(3.0)
    with a derivative
    6.0
    """
    return False


@contextual(is_deriving)
def is_deriving_inside(ctx: Mode) -> bool:
    """Answer inside a derivative."""
    return True


def nest_level() -> int:
    """Return the number of nested derivatives of the calling code.

    A Hessian and its products (:func:`hessian`, :func:`hvp`, ...) are two derivatives, however they
    are computed.

    Examples
    --------
    >>> from mooncake_py import grad, nest_level
    >>> def f(x):
    ...     print(nest_level(), "levels of nesting")
    ...     return x * x
    >>> f(3.0)
    0 levels of nesting
    9.0
    >>> grad(f)(3.0)
    1 levels of nesting
    6.0
    """
    return 0


@contextual(nest_level)
def nest_level_inside(ctx: Tracking) -> int:
    """Answer inside a derivative."""
    return ctx.nesting
