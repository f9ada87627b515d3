"""The stack as user code sees it, without frames of the engine.

Python code looks up its callers to name them (warnings, logging, tracebacks, named tuples).  The
results are those of the plain call.
"""

from __future__ import annotations

import collections
import inspect
import sys
import warnings
from collections.abc import Iterator, MutableMapping
from types import FrameType
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.places import OWN
from mooncake_py.diagnostics.tracebacks import is_visible, related, without_engine
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.silence import without_streams
from mooncake_py.syntax.nodes import PREFIX

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["HANDLERS", "VIEWS", "run_logging", "run_traceback", "run_warn", "user_frame"]

LOGGING = frozenset({
    "critical", "debug", "error", "exception", "fatal", "info", "log", "warn", "warning",
})  # fmt: skip


def caller(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of user code from a frame outwards."""
    while frame is not None and not is_visible(frame):
        frame = frame.f_back
    return frame


def user_frame(depth: int = 0) -> FrameType:
    """Run ``sys._getframe(depth)``."""
    frame = caller(sys._getframe(1))
    for _ in range(depth):
        frame = frame and caller(frame.f_back)
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


def stack_level(level: int) -> int:
    """Return the stack level that counts the engine's frames too, seen from the caller of this.

    A level is that of :func:`warnings.warn`: 1 is the frame that calls it.
    """
    frame: FrameType | None = sys._getframe(1)
    raw = 0
    while frame is not None and level > 0:
        raw += 1
        level -= is_visible(frame)
        frame = frame.f_back
    return raw


# Tracebacks.


class Locals(MutableMapping[str, Any]):
    """The variables of a frame as Python 3.13 gives them, which writes change, without our own."""

    def __init__(self, frame: FrameType) -> None:
        self.frame = frame

    def __getitem__(self, name: str) -> Any:
        return self.frame.f_locals[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.frame.f_locals[name] = value

    def __delitem__(self, name: str) -> None:
        del self.frame.f_locals[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.frame.f_locals if not name.startswith(PREFIX))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def variables(frame: FrameType) -> Any:
    """Return the variables of a frame, without those that derived functions have besides."""
    found = frame.f_locals
    if not any(name.startswith(PREFIX) for name in found):
        return found
    if type(found) is not dict:
        return Locals(frame)
    return {name: value for name, value in found.items() if not name.startswith(PREFIX)}


# Attributes in which the engine's frames and variables would show, by descriptor.
VIEWS = {
    FrameType.__dict__["f_back"]: lambda frame: caller(frame.f_back),
    FrameType.__dict__["f_locals"]: variables,
    BaseException.__dict__["__traceback__"]: without_engine,
}


def hide_engine(*values: Any) -> None:
    """Clean the tracebacks of the exception that is being handled, and of others."""
    errors = [v for v in (sys.exception(), *values) if issubclass(type(v), BaseException)]
    for error in related(*errors):
        without_engine(error)


# Calls of modules that run as they are.


def run_logging(f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of :mod:`logging`, which records who called it."""
    hide_engine()
    if f.__name__ in LOGGING:
        kwargs = {**kwargs, "stacklevel": stack_level(kwargs.get("stacklevel", 1))}
    with without_streams():
        return f(*map(unwrapped, args), **unwrapped(kwargs))


def run_traceback(f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of :mod:`traceback`."""
    import traceback  # by whoever got the function from it

    if f in (traceback.extract_stack, traceback.format_stack):
        found = traceback.extract_stack(user_frame(), *args[1:], **kwargs)
        kept = [entry for entry in found if not entry.filename.startswith(OWN)]
        summary = traceback.StackSummary.from_list(kept)
        return summary.format() if f is traceback.format_stack else summary
    hide_engine(*args, *kwargs.values())
    return f(*args, **kwargs)


# Handlers: (context, function, args, kwargs) -> result.


def run_stack(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    found = inspect.getouterframes(user_frame(), *args, **kwargs)
    return [info for info in found if is_visible(info.frame)]


def run_warn(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Run ``warnings.warn``: it names the line of the user's code that its level says."""
    names = ("message", "category", "stacklevel", "source")
    given = {**dict(zip(names, map(unwrapped, args), strict=False)), **unwrapped(kwargs)}
    if "skip_file_prefixes" in given:
        given["skip_file_prefixes"] = (*given["skip_file_prefixes"], *OWN)
    else:
        given["stacklevel"] = stack_level(given.get("stacklevel", 1))
    warnings.warn(**given)


def run_exc_info(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    hide_engine()
    return f(*args)


def run_namedtuple(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    module = user_frame().f_globals.get("__name__", "__main__")
    return f(*args, **{"module": module, **kwargs})


HANDLERS = {
    sys._getframe: lambda ctx, f, args, kwargs: user_frame(*args),
    sys.exc_info: run_exc_info,
    inspect.currentframe: lambda ctx, f, args, kwargs: user_frame(),
    inspect.stack: run_stack,
    collections.namedtuple: run_namedtuple,
}
