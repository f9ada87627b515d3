"""What users call to save memory: parts of a program that run twice instead of being recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

__all__ = ["checkpoint", "checkpointed", "checkpointed_loop", "checkpointed_while"]

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")


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
    >>> grad(energy)(np.linspace(0.0, 1.0, 3)).round(6)
    array([0.5, 0. , 2.5])
    """
    return f(*args, **kwargs)


def checkpointed(items: Iterable[Item], /, slots: int = 10) -> Sequence[Item]:
    """Return the items of a ``for`` loop whose steps run again on the reverse pass.

    ``for t in checkpointed(range(1000), slots=10):`` within a function that is differentiated runs
    with bounded memory, as :func:`checkpointed_loop`.  A state is what the body changes: the
    variables that it binds, and whatever it changes in place.

    Parameters
    ----------
    items : iterable
        Read to its end before the loop begins; if it is no range, into a tuple.
    slots : int, optional
        Number of states that are kept at a time.

    Returns
    -------
    range or tuple

    Notes
    -----
    The call must stand in the ``for`` statement; elsewhere, and in class bodies, the loop is
    recorded as any other.  The body may use ``break``, ``continue`` and ``return``, but not
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

    The same in value and derivative.  Within differentiated code, of all steps only one is
    recorded at a time, and not more than `slots` states are kept; from these the reverse pass
    runs the steps again.

    Parameters
    ----------
    step : callable
        One step.  It may work in place on the state, which it returns, and on whatever it can
        reach.
    state : object
        Before the first step.
    items : range, list, tuple, array or other iterable
        One for each step; an iterator is read to its end first.
    slots : int, optional
        Number of states that are kept at a time.  A state is what the steps change.

    Returns
    -------
    object
        The state after the last step.

    Notes
    -----
    The states are chosen as by Revolve [1]_: with s slots and each step run at most r times before
    it is recorded, (s + r)! / (s! r!) steps can be reversed: 286 steps with 10 slots and r = 3,
    1001 with r = 4, 8008 with r = 6.

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

    As :func:`checkpointed_loop`, where the number of steps is not known: they run in blocks, each
    twice as long as the one before, and besides `slots` states one is kept for each block.

    Parameters
    ----------
    step : callable
        One step.
    state : object
        Before the first step.
    more : callable
        Tells of a state whether there is another step.
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
