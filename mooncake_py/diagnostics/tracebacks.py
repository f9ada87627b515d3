"""Tracebacks without the frames of this package.

Rewritten code has the user's file and lines, so the remaining traceback is that of the plain call.
It is shortened once, when an exception leaves the package. Setting the environment variable
``MOONCAKE_FULL_TRACEBACK=1`` keeps all frames.
"""

from __future__ import annotations

import os
from types import FrameType, TracebackType
from typing import Any

from mooncake_py.diagnostics.places import OWN

__all__ = ["boundary", "hint", "is_visible", "leave_by", "related", "without_engine"]

VARIABLE = "MOONCAKE_FULL_TRACEBACK"


class _Boundary:
    """The context in which users enter this package.

    It has no state, so one is enough for all calls.  It must stand in the outermost frame:
    entries of frames further out are added to the traceback afterwards.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if error is not None:
            leave_by(error)
            cause = error.__cause__
            if type(error) is SystemError and isinstance(cause, KeyboardInterrupt):
                error.__cause__ = None  # compiled code has returned although it was interrupted
                raise cause from None


boundary = _Boundary()


def leave_by(error: BaseException) -> None:
    """Prepare an exception that leaves the package, where it does so."""
    if not is_full():
        for each in related(error):
            without_engine(each)


def is_full() -> bool:
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def hint() -> str:
    """Return the text of a note about the frames that are left out."""
    return "" if is_full() else f"\n(frames of mooncake_py are left out; {VARIABLE}=1 shows them)"


def is_visible(frame: FrameType) -> bool:
    """Return whether a frame would be there without differentiation."""
    return not frame.f_code.co_filename.startswith(OWN)


def without_engine(error: BaseException) -> TracebackType | None:
    """Take the engine's frames out of the traceback of an exception, and return it."""
    entries = []
    entry = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    visible = [entry for entry in entries if is_visible(entry.tb_frame)]
    if len(visible) < len(entries):
        kept = None
        for entry in reversed(visible):
            # Where an interrupt comes, an instruction may be of no line.
            line: int | None = entry.tb_lineno
            first = entry.tb_frame.f_code.co_firstlineno
            kept = TracebackType(
                kept, entry.tb_frame, entry.tb_lasti, first if line is None else line
            )
        error.__traceback__ = kept
    return error.__traceback__


def related(*errors: BaseException | None) -> list[BaseException]:
    """Return exceptions with their causes, contexts and members."""
    found: dict[int, BaseException] = {}
    todo = list(errors)
    while todo:
        error = todo.pop()
        if error is None or id(error) in found:
            continue
        found[id(error)] = error
        todo += [error.__cause__, error.__context__]
        if isinstance(error, BaseExceptionGroup):
            todo += error.exceptions
    return list(found.values())
