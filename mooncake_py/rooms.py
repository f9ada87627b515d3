"""The rooms (subpackages) of the engine, from the lowest up; each imports only lower ones.

`errors`, `tangents` and `rules` are below all of them; the public modules are above.
"""

from __future__ import annotations

import os

__all__ = ["ENGINE", "PACKAGE", "ROOMS", "is_built_in", "is_engine"]

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

BUILT_IN = tuple(PACKAGE + folder + os.sep for folder in ("rules", f"integrations{os.sep}scipy"))
SOLVERS = PACKAGE + os.path.join("integrations", "scipy", "solvers", "")  # they call users back

_known: dict[str, bool] = {}


def is_engine(file: str) -> bool:
    """Return whether a source file belongs to the engine."""
    known = _known.get(file)
    if known is None:
        known = _known[file] = file.startswith(ENGINE)
    return known


def is_built_in(file: str) -> bool:
    """Return whether a file declares rules of this package, for functions that call nobody back."""
    return file.startswith(BUILT_IN) and not file.startswith(SOLVERS)
