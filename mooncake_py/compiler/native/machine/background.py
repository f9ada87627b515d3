"""Work that is done meanwhile, by a thread that ends when there is none left."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

__all__ = ["WORKER", "Worker"]


class Worker:
    """A thread for work that nothing waits for; what is left when the program ends is not done.

    What has begun then is brought to its end: the machine's functions must not be in the middle
    of something when the process gives up its memory.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._todo: deque[Callable[[], None]] = deque()
        self._now: Callable[[], None] | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Whether there is work."""
        return self._thread is not None

    def add(self, work: Callable[[], None]) -> None:
        """Have something done; it must not raise."""
        with self._lock:
            self._todo.append(work)
            self._start()

    def wait(self) -> None:
        """Wait until all is done."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def begin_anew(self) -> None:
        """Do what is left in a process whose parent has the thread."""
        self._lock = threading.Lock()
        self._thread = None
        if self._now is not None:
            self._todo.appendleft(self._now)
            self._now = None
        if self._todo:
            self._start()

    def _start(self) -> None:
        if self._thread is not None:
            return
        self._thread = threading.Thread(target=self._run, name="mooncake_py compiler")
        try:
            self._thread.start()
        except RuntimeError:  # the program ends
            self._thread = None

    def _run(self) -> None:
        while True:
            with self._lock:
                self._now = None
                if not self._todo or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                work = self._now = self._todo.popleft()
            with suppress(Exception):
                work()


WORKER = Worker()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKER.begin_anew)
