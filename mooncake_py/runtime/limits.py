"""Limits of the interpreter that are raised while a gradient runs.

A tape consists of many live tuples.  The cyclic garbage collector visits all new objects after some
hundred allocations, and finds nothing: it takes a third of the time of scalar loops.  Where it has
found next to nothing among very many, it looks even later in what follows: that took an eighth.
And a derived call takes several frames instead of one, so that a recursion within the recursion
limit would exceed it.  Both settings are restored afterwards.  What the C library keeps of freed
memory is raised once.
"""

from __future__ import annotations

import gc
import sys
import threading
from functools import cache

from mooncake_py.runtime.heap import keep_freed_memory

__all__ = ["limits_raised"]

YOUNG_OBJECTS = 200_000
MOST_YOUNG_OBJECTS = 16 * YOUNG_OBJECTS
FRAMES_PER_CALL = 16  # in debug mode an operator of an object takes 15
# Measured for recursive generators, the worst: some 500 bytes of the C stack for each.
BYTES_PER_FRAME = 640
USUAL_STACK = 2 << 20

_lock = threading.RLock()
_depth = 0
_thresholds = (0, 0, 0)
_young = YOUNG_OBJECTS
_recursion = 0
_raised = 0


class _Thread(threading.local):
    """The cached number of frames that fit into the stack of this thread."""

    frames = 0


_thread = _Thread()


class limits_raised:
    """Raise both limits within a block. Blocks nest, and may run in several threads.

    A block that an interrupt has ended where it was about to leave does so when it is deleted.
    """

    is_entered = False  # of the class, for a block that an interrupt has kept from being made

    def __enter__(self) -> None:
        global _depth
        with _lock:
            if _depth == 0:
                _raise()
            _depth += 1
            self.is_entered = True

    def __exit__(self, *exception: object) -> None:
        global _depth
        with _lock:
            if _depth == 1:
                _restore()
            _depth -= 1
            self.is_entered = False

    def __del__(self) -> None:
        if self.is_entered:
            self.__exit__()


_keep_freed_memory_once = cache(keep_freed_memory)


def _raise() -> None:
    global _thresholds, _recursion, _raised
    _keep_freed_memory_once()
    _thresholds = young, middle, old = gc.get_threshold()
    if 0 < young < YOUNG_OBJECTS:
        gc.set_threshold(_young, middle, old)
    _recursion = sys.getrecursionlimit()
    frames = _thread.frames
    if not frames:  # asking costs more than all of the rest: 2 of 4 us
        frames = _thread.frames = frames_that_fit()
    _raised = _recursion * FRAMES_PER_CALL
    if _raised > frames:
        _raised = max(_recursion, frames)
    sys.setrecursionlimit(_raised)


def _adapt(phase: str, info: dict[str, int]) -> None:
    """Let the collector look later where it has found next to nothing, else as early as ever."""
    global _young
    if phase != "stop" or not _depth:
        return
    young, *older = gc.get_threshold()
    if young != _young:
        return  # it is the user's
    if info["collected"] > young // 100:
        _young = YOUNG_OBJECTS
    elif info["generation"] == 0:
        _young = min(4 * young, MOST_YOUNG_OBJECTS)
    gc.set_threshold(_young, *older)


gc.callbacks.append(_adapt)


def frames_that_fit() -> int:
    """Return how many frames surely fit into the C stack, where the interpreter does not watch it.

    In Python 3.11 the recursion limit is all that stands between a recursion and a crash.
    """
    if sys.version_info >= (3, 12):
        return sys.maxsize
    size = threading.stack_size()  # which sets it to 0, the default
    if size:
        threading.stack_size(size)
    if not size or threading.current_thread() is threading.main_thread():
        size = stack_of_process()
    return size // BYTES_PER_FRAME


def stack_of_process() -> int:
    """Return the size of the C stack of threads, unless it was set in Python."""
    if sys.platform == "win32":
        return USUAL_STACK
    import resource

    size = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return USUAL_STACK if size == resource.RLIM_INFINITY else size


def _restore() -> None:
    # Settings that somebody changed meanwhile stay.
    young, *older = gc.get_threshold()
    if young == _young:
        gc.set_threshold(_thresholds[0], *older)
    if sys.getrecursionlimit() == _raised:
        try:  # noqa: SIM105, it takes a third of the time
            sys.setrecursionlimit(_recursion)
        except RecursionError:  # refused at a depth that the old limit does not allow
            pass
