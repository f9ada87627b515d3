"""A limit of time for what may never end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["TimedOut", "limited"]


class TimedOut(BaseException):
    """Raised in the middle of what takes too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer."""

    def interrupt(*_: Any) -> None:
        raise TimedOut

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
