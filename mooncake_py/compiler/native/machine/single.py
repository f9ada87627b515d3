"""One thread of one process at a time makes what a key names; others wait and find it.

A file next to the one being made tells other processes which one makes it.  It is stale, and
removed, if its process is gone, as far as that can be told, or if it is old.
"""

from __future__ import annotations

import json
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mooncake_py.compiler.native.machine import leaving

__all__ = ["alone"]

clock: Callable[[], float] = time.time
sleep: Callable[[float], None] = time.sleep
"""Tests replace both."""

OLD = 120.0  # seconds after which nobody waits for another process any more
PAUSE = 0.02  # seconds between two looks

_guard = threading.Lock()
_locks: dict[str, tuple[threading.Lock, int]] = {}
"""By key the lock, and how many threads have or want it."""


@contextmanager
def alone(key: str, path: Path | None, is_made: Callable[[], bool]) -> Iterator[None]:
    """Keep other threads and processes out of blocks for the same key.

    Parameters
    ----------
    key : str
    path : Path or None
        The file between processes, None if nothing is kept.
    is_made : callable
        Returns True once another process has made it, so that nobody need wait.
    """
    with _guard:
        lock, count = _locks.get(key, (threading.Lock(), 0))
        _locks[key] = lock, count + 1
    try:
        with lock:
            is_ours = path is not None and taken(path, is_made)
            try:
                yield
            finally:
                if is_ours and path is not None:
                    remove(path)
    finally:
        with _guard:
            lock, count = _locks.get(key, (lock, 1))
            if count > 1:
                _locks[key] = lock, count - 1
            else:
                _locks.pop(key, None)


def taken(path: Path, is_made: Callable[[], bool]) -> bool:
    """Take the file; return False where it is made by now, or nothing can be written."""
    begun = clock()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:  # a file may have the folder's name
        return False
    while True:
        try:
            leaving.noted(path)
            number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            leaving.forgotten(path)
            if is_made():
                return False
            if is_stale(path):
                with suppress(OSError):  # another process was quicker
                    path.unlink()
            elif clock() - begun > OLD:
                return False
            else:
                sleep(PAUSE)
        except OSError:
            leaving.forgotten(path)
            return False
        else:
            with os.fdopen(number, "w") as file:
                json.dump({"process": os.getpid(), "machine": platform.node()}, file)
            return True


def remove(path: Path) -> None:
    """Give the file back."""
    with suppress(OSError):
        path.unlink()
    leaving.forgotten(path)


def is_stale(path: Path) -> bool:
    """Return True for the file of a process that is gone, or has left it long ago."""
    age = 0.0
    try:
        age = clock() - path.stat().st_mtime
        owner = json.loads(path.read_text())
        process, machine = owner["process"], owner["machine"]
    except FileNotFoundError:
        return False  # it is free
    except (OSError, ValueError, KeyError, TypeError):  # not written yet, or never will be
        return age > 1.0
    if age > OLD:
        return True
    return machine == platform.node() and not is_running(process)


def is_running(process: int) -> bool:
    """Return False if it is certain that a process of this machine is gone."""
    if os.name == "nt":  # where signal 0 ends the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError, TypeError):
        return True
    return True


def _new_locks() -> None:
    """Let nobody wait for threads that a fork has not taken over."""
    global _guard
    _guard = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_locks)
