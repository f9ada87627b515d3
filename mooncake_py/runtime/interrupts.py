"""Interrupts (Ctrl-C) while a call restores what it has changed: they come when it is restored.

An interrupt may come between any two instructions of Python.  So

- a change is recorded before it is made,
- what undoes it does no harm where it was not made, or was undone already or in part,
- an entry that undoes something leaves the tape for good only after it is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import chain

__all__ = ["at_once", "through_interrupts"]


def through_interrupts(restore: Callable[[], object]) -> None:
    """Run what goes on where it was interrupted, to its end; then raise the interrupt.

    Parameters
    ----------
    restore : callable
        Called again after each interrupt.
    """
    interrupt: BaseException | None = None
    while True:
        try:
            restore()
            break
        except Exception:
            raise
        except BaseException as error:  # whatever a handler of signals raises
            interrupt = error
    if interrupt is not None:
        raise interrupt


def at_once(*calls: Iterable[object]) -> None:
    """Make calls of functions in C, as by `map`: no interrupt comes before the last has returned.

    Interrupts come between instructions of Python only.
    """
    deque(chain(*calls), 0)
