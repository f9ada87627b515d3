"""The compiler's warnings about the user's source, which Python gave when it compiled it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_warnings"]

FILTERS = (
    ("ignore", None, SyntaxWarning, None, 0),
    # Escape sequences and literals that are wrong, until Python 3.12.
    ("ignore", re.compile("invalid "), DeprecationWarning, None, 0),
)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Let source be parsed and compiled again without its warnings, which may be errors by now.

    `warnings.catch_warnings` would not do: afterwards Python gives those of the program again that
    it gives once for each place.
    """
    filters: list[object] = warnings.filters  # type: ignore[assignment]
    filters[:0] = FILTERS
    try:
        yield
    finally:
        for added in FILTERS:
            filters.remove(added)
