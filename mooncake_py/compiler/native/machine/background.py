"""Work that is done meanwhile, by a thread that ends when there is none left."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

__all__ = ["WORKER", "Worker"]


class Worker:
    """A thread for work that nothing waits for; what is left when the program ends is not done."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as a process does whose parent has the thread."""
        self._todo: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, work: Callable[[], None]) -> None:
        """Have something done."""
        with self._lock:
            self._todo.append(work)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mooncake_py compiler")
                self._thread.start()

    def wait(self) -> None:
        """Wait until all is done."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._todo or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                work = self._todo.popleft()
            work()


WORKER = Worker()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKER.forget)
