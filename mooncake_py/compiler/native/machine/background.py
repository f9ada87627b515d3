"""Work that is done meanwhile, by a thread that ends when there is none left.

Some of it waits until it pays (`Later`).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakSet

__all__ = ["WORKER", "Later", "Worker"]


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

    What has begun then is brought to its end, as it is before the process begins another one by
    a fork: the machine's functions must not be in the middle of something.
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

    def _join(self) -> None:
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

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

    def _go_on(self) -> None:
        if self._thread is not None or self._pauses or not self._todo:
            return
        self._thread = threading.Thread(target=self._run, name="mooncake_py compiler")
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
            with suppress(Exception):
                work()


WORKER = Worker()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=WORKER.pause,
        after_in_parent=WORKER.resume,
        after_in_child=WORKER.resume_in_child,
    )
