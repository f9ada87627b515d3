"""A progress message for users who wait for compiled code: after three seconds, on stderr.

In a terminal and in a notebook it is one line with a bar, which is drawn again and goes in the end;
elsewhere, in a log say, a line now and then.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["Wait", "stage", "waiting"]

clock: Callable[[], float] = time.monotonic
"""Tests replace it."""

PATIENCE = 3.0  # seconds of compiling without a word
PAUSE = 1.0  # between two waits, from which on they are not one
REDRAWN = 0.25  # seconds
TWICE = 2.0  # so many times as long passes before each further line of a log
WIDTH = 24  # of the bar


class Wait:
    """One wait, of several steps that follow each other.

    Attributes
    ----------
    name : str
        What is compiled.
    doing : str
        What is done with it.
    share : float or None
        How much of that is done, as far as it is known.
    """

    def __init__(self) -> None:
        self.name = self.doing = ""
        self.depth = 0
        self.begun = self.ended = self.began_stage = clock()
        self.expected: float | None = None
        self.due = PATIENCE
        self.width = 0
        self.lock = threading.Lock()  # one thread waits, another one tells

    def enter(self, name: str) -> None:
        """Begin to wait for something."""
        now = clock()
        if not self.depth and now - self.ended > PAUSE:
            self.begun, self.due = now, PATIENCE
        elif not self.depth:
            self.begun += now - self.ended  # the time since then is not a wait
        self.depth += 1
        self.name, self.doing = name, "reading"
        self.expected = None

    def leave(self) -> None:
        """End to wait for it."""
        with self.lock:
            self.depth -= 1
            if not self.depth:
                self.ended = clock()
                self.clear()

    def at(self, doing: str, expected: float | None) -> None:
        """Note what is done now, and how many seconds it is likely to take."""
        self.doing, self.expected, self.began_stage = doing, expected, clock()

    @property
    def share(self) -> float | None:
        """How much of what is done now is done, as far as it is known."""
        if not self.expected:
            return None
        return min(0.99, (clock() - self.began_stage) / self.expected)

    def text(self) -> str:
        """Return the message shown."""
        share = self.share
        how_far = "" if share is None else f" {bar(share)} {share:4.0%}"
        return (
            f"mooncake_py: compiling {self.name}: {self.doing}{how_far}, "
            f"{clock() - self.begun:.0f} s so far"
        )

    def tell(self) -> None:
        """Show it, if it is time."""
        seconds = clock() - self.begun
        if seconds < self.due:
            return
        with self.lock, suppress(OSError, ValueError):  # closed
            if not self.depth:
                pass
            elif is_drawn():
                text = self.text()
                sys.stderr.write("\r" + text.ljust(self.width))
                self.width = len(text)
            else:
                sys.stderr.write(self.text() + "\n")
                self.due = seconds * TWICE
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away that is drawn."""
        if self.width:
            with suppress(OSError, ValueError):
                sys.stderr.write("\r" + " " * self.width + "\r")
                sys.stderr.flush()
            self.width = 0


def bar(share: float) -> str:
    """Return a bar of text."""
    full = int(share * WIDTH)
    return f"[{'#' * full}{'.' * (WIDTH - full)}]"


def is_drawn() -> bool:
    """Return whether a line of stderr can be drawn again."""
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


class _Waits(threading.local):
    """The wait of each thread."""

    def __init__(self) -> None:
        self.own = Wait()


_waits = _Waits()


@contextmanager
def waiting(name: str) -> Iterator[None]:
    """Tell what is compiled within a block of the main thread, if that takes long."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wait = _waits.own
    wait.enter(name)
    if wait.depth > 1:
        try:
            yield
        finally:
            wait.leave()
        return
    done = threading.Event()

    def watch() -> None:
        pause = max(0.0, wait.due - (clock() - wait.begun))
        while not done.wait(pause):
            wait.tell()
            pause = REDRAWN

    thread = threading.Thread(target=watch, name="mooncake_py wait", daemon=True)
    try:
        with suppress(RuntimeError):  # no more threads: nothing is told
            thread.start()
        yield
    finally:
        done.set()
        wait.leave()
        if thread.ident is not None:
            thread.join()


def stage(doing: str, expected: float | None = None) -> None:
    """Tell what is done now, and how many seconds it is likely to take."""
    _waits.own.at(doing, expected)
