"""The rooms of the engine, from the lowest to the highest: each imports only those below it.

Below all of them are `errors`, `tangents` and `rules`; above, what users call.
"""

from __future__ import annotations

import os

__all__ = ["ENGINE", "PACKAGE", "ROOMS", "is_engine"]

ROOMS = (
    "diagnostics",
    "syntax",
    "runtime",
    "containers",
    "compiler",
    "frontend",
    "application",
    "language",
    "boundary",
    "recomputation",
    "modes.reverse",
    "modes.debug",
    "modes.survey",
    "modes.forward",
    "nesting",
)

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
ENGINE = tuple(dict.fromkeys(PACKAGE + room.partition(".")[0] + os.sep for room in ROOMS))
"""The folders of the engine."""

_known: dict[str, bool] = {}


def is_engine(file: str) -> bool:
    """Return whether a file of code is the engine's."""
    known = _known.get(file)
    if known is None:
        known = _known[file] = file.startswith(ENGINE)
    return known
