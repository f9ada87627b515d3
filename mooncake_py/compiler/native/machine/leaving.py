"""The end of a process in which a thread is making code.

Such a thread is stopped by nobody: the process would have to wait, which may be seconds, or would
take down what LLVM works with, which crashes.  So the C library is told to leave at once, without
taking anything down, after all that Python does at the end; where it cannot be told, the process
waits.  Files that other processes wait for are removed.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

__all__ = ["ends_at_once", "forgotten", "noted", "tidy", "writing"]

SECONDS = 2.0  # that a file takes at most to be written
_writing = threading.Lock()
_files: dict[str, int] = {}
"""Files to be removed, and the processes that made them."""


@cache
def ends_at_once() -> bool:
    """Have the process leave without taking anything down; return whether that can be."""
    try:
        library = ctypes.CDLL(None)
        on_exit, leave = library.on_exit, library._exit  # the GNU C library alone has both
    except (OSError, AttributeError, TypeError):
        return False
    library.fflush(None)  # flush buffers, as exit handlers will not run
    return on_exit(leave, None) == 0


def noted(path: Path) -> None:
    """Note a file that must not be left behind."""
    _files[str(path)] = os.getpid()


def forgotten(path: Path) -> None:
    """Note that it is gone."""
    _files.pop(str(path), None)


@contextmanager
def writing() -> Iterator[None]:
    """Let the process not end within a block that writes a file.

    Raises
    ------
    OSError
        If it ends already.
    """
    if not _writing.acquire(timeout=SECONDS):
        raise OSError("the process ends")
    try:
        yield
    finally:
        _writing.release()


def tidy() -> None:
    """Remove what must not be left behind; no file is written any more."""
    _writing.acquire(timeout=SECONDS)
    for path, process in list(_files.items()):
        if process == os.getpid():
            with suppress(OSError):
                os.unlink(path)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_writing.acquire, after_in_parent=_writing.release, after_in_child=_writing.release
    )
