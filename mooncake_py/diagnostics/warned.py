"""Warnings of compiled code, reissued at the user's line instead of the engine's.

NumPy's C code warns at the running Python frame, which is the engine's for an operation of
rewritten code.  While a differentiated call runs, a filter of this module precedes all others: it
takes warnings at frames of this package, and reissues them at the user's line, with the user's
module and registry, through all other filters.  So a warning is shown once per location, is an
error, or is ignored exactly as in the plain call.

Arithmetic of the engine does not concern the program: while it is `unheard`, the same filter
takes all warnings of its thread, and counts them.
"""

from __future__ import annotations

import sys
import threading
import warnings
from types import FrameType
from typing import Any

from mooncake_py.diagnostics.places import OWN, is_rewritten
from mooncake_py.errors import MooncakeWarning

__all__ = [
    "are_errors", "begin_to_redirect", "end_redirecting", "enter_block", "filters_of_the_program",
    "leave_block", "look_up_again", "may_be_caught", "not_redirected", "note_unheard", "pending",
    "redirect", "restore_filters", "run_filter", "take_out",
]  # fmt: skip


NEVER = "(?!)"  # the pattern for who takes the parts of a filter to make another of them
NAMELESS = "<string>"  # what stands for the module of code whose globals have no name


def named(frame: FrameType) -> Any:
    """Return the name of the module of running code as `warnings.warn` finds it."""
    return frame.f_globals.get("__name__", NAMELESS)


class _Pending(threading.local):
    """A warning of this thread that may be redirected: its text, and where it belongs."""

    text = ""
    frame: FrameType | None = None
    module = ""  # of the code of this package that has warned, if any
    busy = False
    changed = False  # whether the call itself has changed filters: ours may be there twice
    blocks = 0  # of `warnings.catch_warnings` that the call is in
    unheard = 0  # blocks of arithmetic that the program does not hear of
    count = 0  # of the warnings in them


pending = _Pending()
_derivatives: list[None] = []
"""One for each that runs, in all threads."""
_asked: tuple[tuple[Any, ...], bool] = (), False
"""The filters that were asked for errors last, which most often are the same, and the answer."""


def is_of_program(code: Any) -> bool:
    """Return whether code was rewritten and is not a replacement of this package."""
    return is_rewritten(code) and not code.co_filename.startswith(OWN)


class _Text:
    """Stands in a filter for a pattern of the text: remembers it, and who warns."""

    pattern = NEVER

    def match(self, text: str) -> bool:
        """Return whether this may be a warning to be redirected."""
        if pending.unheard:
            pending.count += 1
            return True
        if pending.busy:
            return False
        frame: FrameType | None = sys._getframe(1)
        is_own = frame.f_code.co_filename.startswith(OWN)
        pending.module = named(frame) if is_own else ""
        while frame is not None and not is_of_program(frame.f_code):
            frame = frame.f_back
        pending.text, pending.frame = text, frame
        return frame is not None


class _Module:
    """Stands in a filter for a pattern of the module: matches this package."""

    pattern = NEVER

    def match(self, module: str) -> bool:
        """Return whether a warning names this package or its generated code, whoever warned."""
        if pending.unheard:
            return True
        if module != pending.module and not module.startswith("mooncake_py"):
            pending.frame = None  # it counted frames (``stacklevel=2``), and got out of here
        return pending.frame is not None


class _Category(type):
    """Makes a class of which any category is a subclass, once it was warned again."""

    def __subclasscheck__(cls, category: Any) -> bool:
        if pending.unheard:
            return not issubclass(category, MooncakeWarning)
        frame, pending.frame = pending.frame, None
        if frame is None:
            return False
        pending.busy = True
        try:
            warnings.warn_explicit(
                pending.text,
                category,
                frame.f_code.co_filename,
                frame.f_lineno,
                named(frame),
                frame.f_globals.setdefault("__warningregistry__", {}),
            )
        finally:
            pending.busy = False
            del frame
        return True


class _AnyCategory(Warning, metaclass=_Category):
    """Stands in a filter for all categories."""


FILTER: Any = ("ignore", _Text(), _AnyCategory, _Module(), 0)


def not_redirected() -> Any:
    """Return the filters that `redirect` would change, None if it is so already."""
    filters = warnings.filters
    return None if filters and filters[0] is FILTER else filters


def redirect() -> Any:
    """Begin to redirect; return the filters that this changed, None if it was so already."""
    filters = not_redirected()
    if filters is None:
        return None
    # Past `simplefilter`, which would make all registries forget what was shown.
    filters.insert(0, FILTER)  # type: ignore[attr-defined]
    return filters


def take_out(filters: Any) -> None:
    """Take the filter out of those that it was put into, in whose front it still is."""
    if filters[0] is FILTER:
        del filters[0]


def begin_to_redirect() -> Any:
    """Begin to redirect the warnings of a derivative; return what `redirect` does."""
    _derivatives.append(None)
    return redirect()


def end_redirecting(filters: Any) -> None:
    """End a derivative; after the last one the filter is nowhere.

    Blocks of `warnings.catch_warnings` in several threads put filters of each other back.
    """
    if filters is not None:
        stop_redirecting(filters)
    _derivatives.pop()
    if not _derivatives and warnings.filters and warnings.filters[0] is FILTER:
        stop_redirecting(warnings.filters)


def stop_redirecting(filters: Any) -> None:
    """Take the filter out of those that it was put into."""
    pending.blocks = 0
    if filters[0] is FILTER and not pending.changed:
        del filters[0]
        return
    pending.changed = False
    for i in reversed(range(len(filters))):
        if filters[i] is FILTER:
            del filters[i]


def note_unheard(*_: Any) -> None:
    """Note what would have become a warning: NumPy calls this in place of one."""
    pending.count += 1


def enter_block() -> None:
    """Note that the program begins to catch warnings; they name its lines there too."""
    redirect()
    pending.blocks += 1


def leave_block() -> None:
    """Note that the program ends to catch warnings."""
    pending.blocks = max(pending.blocks - 1, 0)


def may_be_caught() -> bool:
    """Return whether the program itself may see warnings, which compiled code does not issue."""
    return pending.blocks > 0 or pending.changed


def are_errors() -> bool:
    """Return whether a filter may make errors of the warnings of NumPy."""
    global _asked
    asked = (getattr(warnings, "defaultaction", ""), *warnings.filters)
    if asked != _asked[0]:
        found = any(
            known[0] == "error" and issubclass(RuntimeWarning, known[2]) for known in asked[1:]
        )
        _asked = asked, asked[0] == "error" or found
    return _asked[1]


def run_filter(f: Any, args: Any, kwargs: Any) -> None:
    """Run a function that puts a filter in front of the others: ours comes before it."""
    f(*args, **kwargs)
    redirect()
    pending.changed = True


def filters_of_the_program() -> list[Any]:
    """Return the filters of warnings, without that of this module."""
    return [known for known in warnings.filters if known is not FILTER]


def restore_filters(before: list[Any]) -> None:
    """Put filters of the program back, behind the one of this module if that is there."""
    ours = [known for known in warnings.filters[:1] if known is FILTER]
    warnings.filters[:] = ours + before  # type: ignore[index]
    look_up_again()


def look_up_again() -> None:
    """Let what was found for a line be looked up again, as filters have changed unseen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
