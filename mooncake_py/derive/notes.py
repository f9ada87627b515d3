"""Notes on exceptions that pass through a differentiated call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mooncake_py.errors import Location, MooncakeError

__all__ = ["noting"]


@contextmanager
def noting(ctx: Any) -> Iterator[None]:
    """Add to an exception of user code a note that names the user's line."""
    try:
        yield
    except MooncakeError:
        raise
    except Exception as error:
        place = user_frame(error)
        if place is not None and not any(
            "mooncake_py" in note for note in getattr(error, "__notes__", ())
        ):
            error.add_note(f"mooncake_py: while differentiating, at {place}")
        raise


def user_frame(error: BaseException) -> Location | None:
    """Return the innermost place in the user's code that an exception passed through."""
    package = os.path.dirname(os.path.dirname(__file__))
    place = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if "_mk_ctx" in code.co_varnames and not code.co_filename.startswith(package):
            place = Location(code.co_filename, traceback.tb_lineno, code.co_qualname)
        traceback = traceback.tb_next
    return place
