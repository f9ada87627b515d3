"""Work that is done meanwhile, by a thread that ends when there is none left.

Some of it waits until it pays (`Later`).
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar
from weakref import WeakSet

from mooncake_py.compiler.native.machine import leaving

__all__ = ["READER", "WORKER", "Later", "Worker", "apart", "is_busy", "pause", "resume"]

T = TypeVar("T")
SLICE = 0.05  # seconds between two looks whether an interrupt has come


class Later:
    """Work that waits until it pays: it is never done if nothing holds this any more before.

    Parameters
    ----------
    worker : Worker
    work : callable
    """

    def __init__(self, worker: Worker, work: Callable[[], None]) -> None:
        self._worker = worker
        self._work: Callable[[], None] | None = work

    def begin(self) -> bool:
        """Have it done; return whether that has not been asked for before."""
        work, self._work = self._work, None
        if work is None:
            return False
        self._worker.add(work)
        return True


class Worker:
    """A thread for work that nothing waits for; what is left when the program ends is not done.

    What has begun then is left where it is, if the process can end so (see `leaving`).  Before the
    process begins another one by a fork it is brought to its end: the machine's functions must not
    be in the middle of something.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._todo: deque[Callable[[], None]] = deque()
        self._later: WeakSet[Later] = WeakSet()
        self._thread: threading.Thread | None = None
        self._pauses = 0

    @property
    def is_busy(self) -> bool:
        """Whether there is work."""
        return self._thread is not None

    def add(self, work: Callable[[], None]) -> None:
        """Have something done; if it raises, that is the end of it."""
        with self._lock:
            self._todo.append(work)
            self._go_on()

    def later(self, work: Callable[[], None]) -> Later:
        """Return work that waits until it pays."""
        found = Later(self, work)
        with self._lock:
            self._later.add(found)
        return found

    def wait(self) -> None:
        """Wait until all is done, what waits until it pays too."""
        with self._lock:
            waiting = list(self._later)
            self._later.clear()
        for later in waiting:
            later.begin()
        self._join()

    def wait_for(self, seconds: float | None) -> None:
        """Wait until what has begun is done, for so many seconds at most."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def _join(self) -> None:
        self.wait_for(None)

    def pause(self) -> None:
        """Wait until what has begun is done, and begin nothing more."""
        with self._lock:
            self._pauses += 1
        self._join()

    def resume(self) -> None:
        """Go on after a pause."""
        with self._lock:
            self._pauses -= 1
            self._go_on()

    def resume_in_child(self) -> None:
        """Go on in a process whose parent made a pause."""
        self._lock = threading.Lock()
        self._thread = None
        self._pauses = 0
        self._go_on()

    def leave(self) -> bool:
        """Begin nothing more, as the process ends; return whether something is left halfway."""
        with self._lock:
            self._pauses += 1
            is_at_work = self._thread is not None
        if is_at_work and not leaving.ends_at_once():
            self._join()
            return False
        return is_at_work

    def _go_on(self) -> None:
        if self._thread is not None or self._pauses or not self._todo:
            return
        self._thread = threading.Thread(target=self._run, name="mooncake_py compiler", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the program ends
            self._thread = None

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._todo or self._pauses or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                work = self._todo.popleft()
            with suppress(BaseException):  # it is nobody's, and others wait for their work
                work()


WORKER = Worker()
"""Makes better code."""
READER = Worker()
"""Makes the first code of what nobody waits for."""
_apart: WeakSet[Worker] = WeakSet()
"""The workers that make code for the main thread, which waits."""


def apart(work: Callable[[], T]) -> T:
    """Return the result of work that holds no lock of the interpreter, in a thread of its own.

    An interrupt ends the wait; the thread goes on, and what it makes is nobody's.
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    worker = Worker()
    _apart.add(worker)
    worker.add(run)
    while worker.is_busy:
        worker.wait_for(SLICE)
    if failed:
        raise failed[0]
    return found[0] if found else work()


def is_busy() -> bool:
    """Return whether code is being made, so that nothing is to be timed."""
    return WORKER.is_busy or READER.is_busy


def everyone() -> list[Worker]:
    """Return all that may be at work."""
    return [READER, WORKER, *_apart]


def pause() -> None:
    """Have no thread be at work, before a fork."""
    for worker in everyone():
        worker.pause()


def resume() -> None:
    """Go on after a fork."""
    for worker in everyone():
        worker.resume()


def resume_in_child() -> None:
    """Go on in the process that a fork has begun."""
    for worker in everyone():
        worker.resume_in_child()


def leave() -> None:
    """Let the process end."""
    left = [worker.leave() for worker in everyone()]
    if any(left):
        leaving.tidy()


atexit.register(leave)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=pause, after_in_parent=resume, after_in_child=resume_in_child)
