"""What users call to save memory: parts of a program that run twice instead of being recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from typing_extensions import ParamSpec

__all__ = ["checkpoint"]

P = ParamSpec("P")
T = TypeVar("T")


def checkpoint(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function without a record of its intermediate results.

    The same as ``f(*args, **kwargs)``, in value and derivative.  Within differentiated code only
    what undoes the changes that `f` makes is kept; on the reverse pass the state is restored, `f`
    runs again, with record, and is reversed.

    Parameters
    ----------
    f : callable
        Any function.  It may work in place on its arguments and on whatever it can reach.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    object
        What `f` returns.

    Raises
    ------
    CheckpointError
        On the reverse pass, if the second run does not do what the first has done.

    Notes
    -----
    `f` runs twice, and so do its effects: what it prints is printed twice.  Random numbers are
    drawn again as they were, and the generator is left as after one run.  Calls may be nested:
    with halves of halves the memory grows with the logarithm of the length, and the time by a
    factor of the logarithm.  A function that raises is run again at once, with record.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import checkpoint, grad
    >>> def step(u):
    ...     u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    >>> def energy(u):
    ...     for _ in range(100):
    ...         checkpoint(step, u)
    ...     return np.sum(u * u)
    >>> grad(energy)(np.linspace(0.0, 1.0, 3))
    array([0.5, 0. , 1.5])
    """
    return f(*args, **kwargs)
