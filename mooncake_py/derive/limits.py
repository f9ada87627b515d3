"""Limits of the interpreter that are raised while a gradient runs.

A tape is many live tuples.  The cyclic garbage collector looks at all new objects each time some
hundreds were made, and finds nothing: measured on scalar loops it takes a third of the time.  And
a derived call takes several frames where the user's takes one, so that a recursion which fits
into the recursion limit would not fit any more.  Both settings return afterwards.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["limits_raised"]

YOUNG_OBJECTS = 200_000
FRAMES_PER_CALL = 8

_lock = threading.Lock()
_depth = 0
_thresholds = (0, 0, 0)
_recursion = 0


@contextmanager
def limits_raised() -> Iterator[None]:
    """Raise both limits; nests, and serves several threads."""
    global _depth
    with _lock:
        if _depth == 0:
            _raise()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _restore()


def _raise() -> None:
    global _thresholds, _recursion
    _thresholds = gc.get_threshold()
    if 0 < _thresholds[0] < YOUNG_OBJECTS:
        gc.set_threshold(YOUNG_OBJECTS, *_thresholds[1:])
    _recursion = sys.getrecursionlimit()
    sys.setrecursionlimit(_recursion * FRAMES_PER_CALL)


def _restore() -> None:
    # Settings that somebody changed meanwhile stay.
    if gc.get_threshold()[0] == YOUNG_OBJECTS:
        gc.set_threshold(*_thresholds)
    if sys.getrecursionlimit() == _recursion * FRAMES_PER_CALL:
        # Refused at a depth that the old limit does not allow.
        with suppress(RecursionError):
            sys.setrecursionlimit(_recursion)
