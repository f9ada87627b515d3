"""Holding back Python's cyclic garbage collector while a tape grows.

A tape is many live tuples.  The collector looks at all new objects each time some hundreds were
made, and finds nothing: measured on scalar loops it takes a third of the time.  While a gradient
runs its first threshold is raised; the user's settings return afterwards.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]

YOUNG_OBJECTS = 200_000

_lock = threading.Lock()
_depth = 0
_settings = (0, 0, 0)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Raise the threshold of the youngest generation; nests, and serves several threads."""
    global _depth, _settings
    with _lock:
        if _depth == 0:
            _settings = gc.get_threshold()
            if 0 < _settings[0] < YOUNG_OBJECTS:
                gc.set_threshold(YOUNG_OBJECTS, *_settings[1:])
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and gc.get_threshold()[0] == YOUNG_OBJECTS:
                gc.set_threshold(*_settings)
