"""Notes on exceptions that pass through a differentiated call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mooncake_py.derive.places import is_library, is_rewritten
from mooncake_py.errors import Location, MooncakeError

__all__ = ["noting"]

MARK = "mooncake_py: while differentiating, at"


@contextmanager
def noting(ctx: Any) -> Iterator[None]:
    """Add to an exception of user code a note that names the user's line.

    If the code has caught an error of the engine before, that one is raised instead.
    """
    try:
        yield
    except MooncakeError:
        raise
    except Exception as error:
        if ctx.failure is not None:
            raise ctx.failure from error
        place = user_place(error)
        if place is not None and not any(
            MARK in note for note in getattr(error, "__notes__", ())
        ):
            error.add_note(f"{MARK} {place}")
        raise


def user_place(error: BaseException) -> Location | None:
    """Return the innermost place in the user's code that an exception passed through."""
    place = None
    found_own = False
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        own = not is_library(code.co_filename)
        if is_rewritten(code) and (own or not found_own):
            place = Location(code.co_filename, traceback.tb_lineno, code.co_qualname)
            found_own = own
        traceback = traceback.tb_next
    return place
