"""How many random programs the slow tests try.

A run of all tests tries a part of them, so that it does not take hours; ``MOONCAKE_ALL_SEEDS=1`` in
the environment is for a run that tries all.
"""

from __future__ import annotations

import os

__all__ = ["some_of"]

TRIES_ALL = os.environ.get("MOONCAKE_ALL_SEEDS", "0") not in ("", "0")


def some_of(seeds: range, part: int = 2) -> range:
    """Return the first half of the seeds, or the first of so many parts, at least one seed."""
    return seeds if TRIES_ALL else seeds[: max(1, len(seeds) // part)]
