"""Constant copies, which stop derivatives."""

from __future__ import annotations

from typing import TypeVar

from mooncake_py.boundary.outgoing import name_of_object
from mooncake_py.diagnostics.reporting import Reporting, dropped
from mooncake_py.rules.declare import contextual
from mooncake_py.utilities.copies import plain_copy

__all__ = ["stop_gradient"]

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """Return a constant copy of `x`, through which no derivative flows.

    Parameters
    ----------
    x : object
        A number, an array, or lists, dicts, tuples and objects of these, at any depth.

    Returns
    -------
    object
        A copy in new memory, also in a plain call: writes into it do not change `x`.  Each array is
        copied separately; views become separate arrays.

    Raises
    ------
    DerivativeDropError
        If `x` holds an active value in a set, an iterator, an array of objects or a class, where it
        cannot be replaced.

    Examples
    --------
    >>> from mooncake_py import grad, stop_gradient
    >>> grad(lambda x: stop_gradient(x) * x)(3.0)
    3.0
    """
    return plain_copy(x)


@contextual(stop_gradient)
def stop_gradient_inside(ctx: Reporting, x: T) -> T:
    """Copy inside a derivative, and check that nothing active remains."""
    y = plain_copy(x)
    if ctx.contains_active(y):
        raise dropped(
            ctx,
            f"stop_gradient cannot reach all numbers in {name_of_object(x)}",
            why="it holds active numbers in a set, an iterator, an array of objects, a class or "
            "the like",
            fix="pass the numbers themselves, in a list or an array",
        )
    return y
