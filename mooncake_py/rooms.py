"""The rooms (subpackages) of the engine, from the lowest up; each imports only lower ones.

`errors`, `tangents` and `rules` are below all of them; the public modules are above.
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
    """Return whether a source file belongs to the engine."""
    known = _known.get(file)
    if known is None:
        known = _known[file] = file.startswith(ENGINE)
    return known
