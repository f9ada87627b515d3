"""Breaks by name, and how many random programs it takes to find one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from mooncake_py.frontend import load

__all__ = ["Change", "Patch", "forget", "register", "seeds_until_found", "tell"]

Patch = pytest.MonkeyPatch
Change = Callable[[Patch], None]


def register(breaks: dict[str, Change]) -> Callable[[Change], Change]:
    """Return a decorator that puts a break among others, under its name."""

    def note(change: Change) -> Change:
        breaks[change.__name__] = change
        return change

    return note


def seeds_until_found(
    compare: Callable[[int], None], change: Change, most: int, cached: Any
) -> int | None:
    """Return how many seeds it takes until a comparison fails, or None.

    Parameters
    ----------
    cached : callable
        What keeps results that the break changes: it forgets them before and after each seed.
    """
    for seed in range(most):
        with Patch.context() as patch:
            forget(cached)
            change(patch)
            try:
                compare(seed)
            except Exception:
                return seed + 1
            finally:
                forget(cached)
    return None


def forget(cached: Any) -> None:
    """Forget what a break may have changed, within code that was derived of rules too."""
    cached.cache_clear()
    load._entries.clear()


def tell(breaks: dict[str, Change], until_found: Callable[..., int | None], most: int) -> None:
    """Print for the breaks that the command line names, or all, when they are found."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else most
    for name in sys.argv[2:] or breaks:
        print(f"{name:60} {until_found(breaks[name], most)}", flush=True)
