"""Evaluations outside the program's own: they print nothing, log nothing and warn of nothing.

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
from types import FunctionType
from typing import Any

from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import module_of
from mooncake_py.runtime.numpy_operands import has_buffer
from mooncake_py.tangents.fields import instance_dict

__all__ = [
    "Deferred", "Write", "beside", "can_be_written", "hear", "hear_native", "is_muted",
    "is_muted_descriptor", "is_silent", "run_muted", "silent", "without_streams",
]  # fmt: skip

COPIED = frozenset({
    "_blake2", "_hashlib", "_md5", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512", "zlib",
})  # fmt: skip
"""Modules in C with objects that digest or compress what they are given, bit by bit."""
STANDARD = ("stdout", "stderr", "__stdout__", "__stderr__")


class Block:
    """A silent block, and what can be written to that it has not made itself."""

    def __init__(self) -> None:
        logging = sys.modules.get("logging")
        known = () if logging is None else [ref() for ref in logging._handlerList]
        self.handlers = [*known, getattr(logging, "lastResort", None)]
        held = [getattr(handler, "stream", None) for handler in known]
        self.streams = [*(getattr(sys, name) for name in STANDARD), *held]
        self.copies: dict[int, tuple[Any, Any]] = {}  # by id of what they are of, and that itself


class _Thread(threading.local):
    """The silent blocks of this thread, one within the other, and where its warnings go."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.sinks: list[list[Any] | None] = []  # None where they are dropped
        self.hooked: list[Hooked] = []

    @property
    def block(self) -> Block | None:
        """The innermost silent block."""
        return self.blocks[-1] if self.blocks else None


_thread = _Thread()
heard: weakref.WeakKeyDictionary[io.IOBase, Block | None] = weakref.WeakKeyDictionary()
"""Streams that programs have written to, and in which silent block first, None outside of all."""


class Hook:
    """A function that is in the place of one, which it calls for other threads.

    Attributes
    ----------
    blocks : set of Hooked
        In which it is there; those of several threads need not end in the order of their begin.
    """

    def __init__(self, name: str, hook: Callable[..., Any]) -> None:
        self.name, self.hook = name, hook
        self.lock = threading.Lock()
        self.blocks: set[Hooked] = set()
        self.original: Any = None


class Hooked:
    """A block in which a hook is at its place in a class or module."""

    def __init__(self, hook: Hook, holder: Any) -> None:
        self.hook, self.holder = hook, holder

    def __enter__(self) -> None:
        hook = self.hook
        _thread.hooked.append(self)
        with hook.lock:
            if not hook.blocks:
                hook.original = getattr(self.holder, hook.name)
                setattr(self.holder, hook.name, hook.hook)
            hook.blocks.add(self)

    def __exit__(self, *exception: object) -> None:
        hook = self.hook
        with hook.lock:
            hook.blocks.discard(self)
            if not hook.blocks and getattr(self.holder, hook.name) is hook.hook:
                setattr(self.holder, hook.name, hook.original)
        _thread.hooked.remove(self)


def show(*args: Any, **kwargs: Any) -> None:
    """Show a warning, or keep it: in place of `warnings.showwarning`."""
    if not _thread.sinks:
        SHOWING.original(*args, **kwargs)
    elif _thread.sinks[-1] is not None:
        _thread.sinks[-1].append((args, kwargs))


def emit(handler: Any, record: Any) -> None:
    """Write a record to a stream, or do not: in place of `logging.StreamHandler.emit`."""
    block = _thread.block
    is_known = block is not None and any(handler is known for known in block.handlers)
    if not (is_known or is_muted(handler.stream)):
        EMITTING.original(handler, record)


SHOWING, EMITTING = Hook("showwarning", show), Hook("emit", emit)


@contextmanager
def caught(sink: list[Any] | None) -> Iterator[None]:
    """Let warnings of this thread go into a list, or nowhere.

    Filters stay as they are: a warning that they make an error is raised, and a block of
    `warnings.catch_warnings` inside records what is warned there.
    """
    with Hooked(SHOWING, warnings):
        _thread.sinks.append(sink)
        try:
            yield
        finally:
            _thread.sinks.pop()


def depth() -> tuple[int, int, int]:
    """Return how many blocks this thread is in, in which warnings and output go elsewhere."""
    return len(_thread.sinks), len(_thread.blocks), len(_thread.hooked)


def leave_deeper(depth: tuple[int, int, int]) -> None:
    """Leave the blocks that an interrupt has kept from being left."""
    del _thread.sinks[depth[0] :], _thread.blocks[depth[1] :]
    for block in reversed(_thread.hooked[depth[2] :]):
        block.__exit__()


@contextmanager
def silent() -> Iterator[None]:
    """Let nothing in a block be warned of, or written to streams but to those that it makes."""
    _thread.blocks.append(Block())
    try:
        with caught(None):
            yield
    finally:
        _thread.blocks.pop()


class Write:
    """The ``write`` of a stream while a thread is silent: it writes what other threads write.

    An attribute of the stream itself, it is found by native code too, such as `json.dump`.
    """

    __name__ = "write"

    def __init__(self, stream: Any) -> None:
        self.__self__ = stream
        self.blocks = 0
        self.before = instance_dict(stream).get("write")
        self.original = stream.write

    def __call__(self, data: Any) -> Any:
        """Write, or return how much would have been written."""
        if is_silent() and can_be_written(self.__self__, data):
            return len(data)
        return self.original(data)


writing = threading.Lock()


def run_muted(run: Callable[[], Any]) -> Any:
    """Run native code, which writes nothing while this thread is silent."""
    if not is_silent():
        return run()
    with writing:
        hooks = [hook for hook in map(mute, muted_streams()) if hook is not None]
    try:
        return run()
    finally:
        with writing:
            for hook in hooks:
                unmute(hook)


def mute(stream: Any) -> Write | None:
    """Put the hook of a stream in its place, or enter it once more; None if it has no place."""
    held = instance_dict(stream)
    if held is None or not hasattr(stream, "write"):
        return None
    hook = held.get("write")
    if type(hook) is not Write:
        hook = held["write"] = Write(stream)
    hook.blocks += 1
    return hook


def unmute(hook: Write) -> None:
    """Leave a hook, and take it away with the last block of any thread."""
    hook.blocks -= 1
    held = instance_dict(hook.__self__)
    if hook.blocks or held.get("write") is not hook:
        return
    if hook.before is None:
        del held["write"]
    else:
        held["write"] = hook.before


def writes_in_program(stream: Any) -> bool:
    """Return whether a method of the program's writes, which is a part of it."""
    method = getattr(type(stream), "write", None)
    return type(method) is FunctionType and not is_library(method.__code__.co_filename)


def muted_streams() -> list[Any]:
    """Return the streams to which nothing is written by a thread that is silent, each once."""
    block = _thread.block
    if block is None:
        return []
    heard_before = [stream for stream, first in heard.items() if first is not block]
    others = [stream for stream in heard_before if not writes_in_program(stream)]
    return list({id(stream): stream for stream in (*block.streams, *others)}.values())


def is_silent() -> bool:
    """Return whether nothing is to be printed or logged now, but to what is made now."""
    return bool(_thread.blocks)


def beside(f: Any) -> Any:
    """Return a replacement for a method of an object in C that moves on as it is used.

    In a silent block it is that of a copy, which the block keeps: the program finds the object
    where its own run has left it.
    """
    o: Any = getattr(f, "__self__", None)
    if _thread.block is None or module_of(type(o)) not in COPIED:
        return f
    if not hasattr(o, "copy") or hasattr(o, "eof"):  # an attribute that is read of the object
        return f
    known = [block.copies[id(o)][1] for block in _thread.blocks if id(o) in block.copies]
    if id(o) not in _thread.block.copies:
        try:
            known.append((known[-1] if known else o).copy())
        except ValueError:  # of what is at its end, and moves no more
            return f
        _thread.block.copies[id(o)] = o, known[-1]
    return getattr(known[-1], f.__name__)


def is_muted(stream: Any) -> bool:
    """Return whether nothing is to be written to a stream now."""
    block = _thread.block
    if block is None:
        return False
    if any(stream is known for known in block.streams):
        return True
    return issubclass(type(stream), io.IOBase) and heard.get(stream, block) is not block


def hear(stream: Any) -> None:
    """Note a stream that the program writes to."""
    if issubclass(type(stream), io.IOBase):
        heard.setdefault(stream, _thread.block)


def hear_native(f: Any, values: Any) -> None:
    """Note the streams that a native function may write to: given ones, and those of the system.

    Its name tells whether it only reads.  Methods of streams themselves are noted by their calls.
    """
    name, receiver = getattr(f, "__name__", ""), getattr(f, "__self__", None)
    for stream in (*values, sys.stdout, sys.stderr):
        if not issubclass(type(stream), io.IOBase) or stream is receiver or stream.closed:
            continue
        only_reads = stream.readable() and any(word in name for word in ("load", "read"))
        if stream.writable() and not only_reads:
            hear(stream)


def can_be_written(stream: Any, data: Any) -> bool:
    """Return whether a stream takes what its ``write`` is given: text, or bytes."""
    takes_bytes = not issubclass(type(stream), io.TextIOBase)
    takes_text = not issubclass(type(stream), (io.RawIOBase, io.BufferedIOBase))
    return (takes_bytes and has_buffer(data)) or (takes_text and isinstance(data, str))


def is_muted_descriptor(number: Any) -> bool:
    """Return whether nothing is to be written to the file of a number now."""
    return is_silent() and number in set(map(descriptor, muted_streams())) - {None}


def descriptor(stream: Any) -> int | None:
    """Return the number of a stream's file; None if it has none."""
    try:
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return None


@contextmanager
def without_streams() -> Iterator[None]:
    """Let the handlers of `logging` that write to streams do nothing in a block, if it is silent.

    Others run, and those that the block makes: the program may look at what they keep.
    """
    if not is_silent():
        yield
        return
    import logging  # by whoever logs

    with Hooked(EMITTING, logging.StreamHandler):
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
