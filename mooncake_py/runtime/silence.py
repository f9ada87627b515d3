"""Evaluations beside those of the program: they print nothing, log nothing and warn of nothing.

A solver's callback is evaluated again for its derivative, and a part that is checkpointed runs a
second time: the program has printed, logged and warned in its own run.
"""

from __future__ import annotations

import io
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Deferred", "hear", "is_muted", "is_silent", "silent", "without_streams"]

heard: weakref.WeakSet[io.IOBase] = weakref.WeakSet()
"""Streams that programs have written to in runs of their own, of which others make no new ones."""
STANDARD = ("stdout", "stderr", "__stdout__", "__stderr__")


class _Thread(threading.local):
    """Whether this thread is silent, and where its warnings go."""

    def __init__(self) -> None:
        self.muted = 0  # blocks
        self.sinks: list[list[Any] | None] = []  # None where they are dropped


_thread = _Thread()


class Hook:
    """A block in which another function is in the place of one, which it calls for other threads.

    Blocks of several threads need not end in the order in which they have begun.
    """

    def __init__(self, name: str, hook: Callable[..., Any]) -> None:
        self.name, self.hook = name, hook
        self.lock = threading.Lock()
        self.blocks = 0
        self.original: Any = None

    @contextmanager
    def of(self, holder: Any) -> Iterator[None]:
        """Put it there."""
        with self.lock:
            if self.blocks == 0:
                self.original = getattr(holder, self.name)
                setattr(holder, self.name, self.hook)
            self.blocks += 1
        try:
            yield
        finally:
            with self.lock:
                self.blocks -= 1
                if self.blocks == 0 and getattr(holder, self.name) is self.hook:
                    setattr(holder, self.name, self.original)


def show(*args: Any, **kwargs: Any) -> None:
    """Show a warning, or keep it: in place of `warnings.showwarning`."""
    if not _thread.sinks:
        SHOWING.original(*args, **kwargs)
    elif _thread.sinks[-1] is not None:
        _thread.sinks[-1].append((args, kwargs))


def emit(handler: Any, record: Any) -> None:
    """Write a record to a stream, or do not: in place of `logging.StreamHandler.emit`."""
    if not is_silent():
        EMITTING.original(handler, record)


SHOWING, EMITTING = Hook("showwarning", show), Hook("emit", emit)


@contextmanager
def caught(sink: list[Any] | None) -> Iterator[None]:
    """Let warnings of this thread go into a list, or nowhere.

    Filters stay as they are: a warning that they make an error is raised, and a block of
    `warnings.catch_warnings` inside records what is warned there.
    """
    with SHOWING.of(warnings):
        _thread.sinks.append(sink)
        try:
            yield
        finally:
            _thread.sinks.pop()


@contextmanager
def silent() -> Iterator[None]:
    """Let nothing in a block be warned of, or written to streams but to those that it makes."""
    _thread.muted += 1
    try:
        with caught(None):
            yield
    finally:
        _thread.muted -= 1


def is_silent() -> bool:
    """Return whether nothing is to be printed or logged now."""
    return _thread.muted > 0


def is_muted(stream: Any) -> bool:
    """Return whether nothing is to be written to a stream now."""
    if not _thread.muted:
        return False
    if any(stream is getattr(sys, name) for name in STANDARD):
        return True
    return isinstance(stream, io.IOBase) and stream in heard


def hear(stream: Any) -> None:
    """Note a stream that the program writes to."""
    if isinstance(stream, io.IOBase) and not _thread.muted:
        heard.add(stream)


@contextmanager
def without_streams() -> Iterator[None]:
    """Let the handlers of `logging` that write to streams do nothing in a block, if it is silent.

    Others run: the program may look at what they keep.
    """
    if not is_silent():
        yield
        return
    import logging  # by whoever logs

    with EMITTING.of(logging.StreamHandler):
        yield


class Deferred:
    """Warnings of a run that is perhaps not the one to be seen."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def __enter__(self) -> None:
        self.block = caught(self.held)
        self.block.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self.block.__exit__(*exception)

    def show(self) -> None:
        """Show them, now that it is."""
        for args, kwargs in self.held:
            warnings.showwarning(*args, **kwargs)
