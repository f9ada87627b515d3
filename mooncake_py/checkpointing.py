"""Checkpoints: parts of a program that run twice instead of being recorded, to save memory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

__all__ = ["checkpoint", "checkpointed", "checkpointed_loop", "checkpointed_while", "note_use"]

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")


def checkpoint(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function without recording its intermediate results.

    Value and derivative are those of ``f(*args, **kwargs)``.  Within differentiated code the engine
    keeps only the data that undo the changes of `f`; the reverse pass restores the state, runs `f`
    again, records it, and reverses it.

    Parameters
    ----------
    f : callable
        Any function.  It may change its arguments and all data that it can reach in place.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    object
        The result of `f`.

    Raises
    ------
    CheckpointError
        In the reverse pass, if the second run differs from the first.

    Notes
    -----
    `f` runs twice, and so do its external effects: for example, it prints twice.  Random numbers
    are the same in both runs, and the generator ends in the state after one run.  Calls may be
    nested: with recursive halves the memory grows with the logarithm of the length, and the time by
    a factor of that logarithm.  If `f` raises, it runs again at once, and is recorded.

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
    >>> grad(energy)(np.linspace(0.0, 1.0, 3)).round(6)
    array([0.5, 0. , 2.5])
    """
    try:
        return f(*args, **kwargs)
    except TypeError as error:
        if not args and not kwargs:
            note_use(f, error)
        raise


def note_use(f: Callable[..., Any], error: TypeError) -> None:
    """Add a note that says how to pass arguments, if those of a function are missing."""
    try:
        inspect.signature(f).bind()
    except TypeError:
        error.add_note("mooncake_py: write checkpoint(f, x), not checkpoint(f)(x)")
    except ValueError:  # it has no signature
        pass


def checkpointed(items: Iterable[Item], /, slots: int = 10) -> Sequence[Item]:
    """Return the items of a ``for`` loop whose steps run again in the reverse pass.

    In differentiated code, ``for t in checkpointed(range(1000), slots=10):`` runs with bounded
    memory, like :func:`checkpointed_loop`.  A state consists of the variables that the body binds,
    and of all data that it changes in place.

    Parameters
    ----------
    items : iterable
        The items, which are read to their end before the loop begins.
    slots : int, optional
        Maximal number of states that are kept at a time.

    Returns
    -------
    range or tuple

    Notes
    -----
    The ``for`` statement must contain the call; elsewhere, and in class bodies, the loop is
    recorded like any other.  The body may use ``break``, ``continue`` and ``return``, but not
    ``yield``.

    Examples
    --------
    >>> from mooncake_py import checkpointed, grad
    >>> def compound(rate, years):
    ...     capital = 1.0
    ...     for _ in checkpointed(range(years), slots=3):
    ...         capital = capital * (1.0 + rate)
    ...     return capital
    >>> grad(compound)(0.0, 50)
    50.0
    """
    result: Any = items if type(items) is range else tuple(items)
    return result


def checkpointed_loop(
    step: Callable[[T, Item], T], state: T, items: Iterable[Item], /, slots: int = 10
) -> T:
    """Run ``for item in items: state = step(state, item)`` with bounded memory, return the state.

    Value and derivative are those of the loop.  Within differentiated code, the engine records only
    one step at a time, and keeps at most `slots` states, from which the reverse pass runs the steps
    again.

    Parameters
    ----------
    step : callable
        Function of one step.  It returns the state, and may change it and other data in place.
    state : object
        Before the first step.
    items : range, list, tuple, array or other iterable
        One item for each step; an iterator is read to its end first.
    slots : int, optional
        Maximal number of states that are kept at a time.  A state is what the steps change.

    Returns
    -------
    object
        The state after the last step.

    Notes
    -----
    The Revolve algorithm [1]_ chooses the states: with s slots, and at most r runs of each step
    before it is recorded, (s + r)! / (s! r!) steps can be reversed: 286 steps with 10 slots and r =
    3, 1001 with r = 4, 8008 with r = 6.

    References
    ----------
    .. [1] A. Griewank, A. Walther, "Algorithm 799: Revolve", ACM Transactions on Mathematical
       Software 26 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import checkpointed_loop, grad
    >>> def step(u, dt):
    ...     u[1:-1] += dt * (u[2:] - 2 * u[1:-1] + u[:-2])
    ...     return u
    >>> def energy(u):
    ...     u = checkpointed_loop(step, u, [0.25] * 100, slots=5)
    ...     return np.sum(u * u)
    >>> grad(energy)(np.linspace(0.0, 1.0, 3)).round(6)
    array([0.5, 0. , 2.5])
    """
    for item in items:
        state = step(state, item)
    return state


def checkpointed_while(
    step: Callable[[T], T], state: T, more: Callable[[T], bool], /, slots: int = 10
) -> T:
    """Run ``while more(state): state = step(state)`` with bounded memory, and return the state.

    This is :func:`checkpointed_loop` for an unknown number of steps: they run in blocks, each twice
    as long as the previous one, and the engine keeps one state for each block besides `slots`
    states.

    Parameters
    ----------
    step : callable
        One step.
    state : object
        Before the first step.
    more : callable
        Function of a state that returns whether there is another step.
    slots : int, optional
        Number of states that are kept at a time, besides one for each block.

    Returns
    -------
    object
        The state after the last step.

    Examples
    --------
    >>> from mooncake_py import checkpointed_while, grad
    >>> def root(a):
    ...     step = lambda x: 0.5 * (x + a / x)
    ...     return checkpointed_while(step, a, lambda x: abs(x * x - a) > 1e-12)
    >>> round(grad(root)(4.0), 6)
    0.25
    """
    while more(state):
        state = step(state)
    return state
