"""Breaks by name, and the seeds of random programs that find them.

Which seed finds a break is noted in ``seeds/``, so that tests try that one first.  What prints when
breaks are found, ``python -m tests.programs.array_sabotage`` for one, rewrites the notes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from mooncake_py.frontend import load

__all__ = [
    "Change", "Patch", "Search", "forget", "noted_seeds", "register", "seed_that_finds",
    "seed_that_raises", "tell",
]  # fmt: skip

Patch = pytest.MonkeyPatch
Change = Callable[[Patch], None]
Search = Callable[..., int | None]


def register(breaks: dict[str, Change]) -> Callable[[Change], Change]:
    """Return a decorator that puts a break among others, under its name."""

    def note(change: Change) -> Change:
        breaks[change.__name__] = change
        return change

    return note


def seed_that_raises(
    compare: Callable[[int], None], change: Change, most: int, cached: Any, way: str = ""
) -> int | None:
    """Return the first seed found with which a comparison fails, or None."""

    def finds(seed: int) -> bool:
        try:
            compare(seed)
        except Exception:
            return True
        return False

    return seed_that_finds(finds, change, most, cached, way)


def seed_that_finds(
    finds: Callable[[int], bool], change: Change, most: int, cached: Any, way: str = ""
) -> int | None:
    """Return the first seed found that finds a break: the noted one is tried before all others.

    Parameters
    ----------
    cached : callable
        What keeps results that the break changes: it forgets them before and after each seed.
    way : str
        The name of the way to compare, if there are several for one break.
    """
    key = key_of(change, way)
    noted = noted_seeds(path_of(change)).get(key)
    for seed in (*([] if noted is None else [noted]), *range(most)):
        with Patch.context() as patch:
            forget(cached)
            change(patch)
            try:
                if finds(seed):
                    return seed
            finally:
                forget(cached)
    return None


def forget(cached: Any) -> None:
    """Forget what a break may have changed, within code that was derived of rules too."""
    cached.cache_clear()
    load._entries.clear()


# Notes of which seeds find what.


def path_of(change: Change) -> Path:
    """Return where the seeds are noted that find the breaks of a file."""
    path = Path(change.__code__.co_filename)  # type: ignore[attr-defined]
    return path.parent / "seeds" / f"{path.stem}.json"


def key_of(change: Change, way: str) -> str:
    return f"{change.__name__} {way}".strip()


def noted_seeds(path: Path) -> dict[str, int]:
    """Return the seeds that a file notes, by the names of breaks."""
    return json.loads(path.read_text()) if path.exists() else {}


def tell(breaks: Iterable[Change], search: Search, most: int, way: str = "") -> None:
    """Print and note which seeds find the breaks that the command line names, or all."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else most
    for change in breaks:
        if sys.argv[2:] and change.__name__ not in sys.argv[2:]:
            continue
        seed = search(change, most)
        print(f"{key_of(change, way):70} {seed}", flush=True)
        path = path_of(change)
        notes = noted_seeds(path)
        notes.pop(key_of(change, way), None)
        if seed is not None:
            notes[key_of(change, way)] = seed
        path.write_text(json.dumps(notes, indent=1, sort_keys=True) + "\n")
