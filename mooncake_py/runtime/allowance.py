"""How much memory a derivative may keep, as users say it.

It belongs to the thread or task, as the setting of compilation does: a derivative takes it at its
beginning, and keeps it for its pullback.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from mooncake_py.diagnostics.options import require_flag
from mooncake_py.errors import InvalidModeError

__all__ = [
    "ENDLESS", "Allowance", "Disk", "LoopForm", "MemorySize", "all_passes", "allowance", "allowed",
    "allowing", "in_units",
]  # fmt: skip

MemorySize = int | str
Disk = bool | str | os.PathLike[str]
LoopForm = Literal["plain", "counted", "passes"]
"""How loops are rewritten: some derivatives count their steps, some run some passes again."""

ENDLESS = sys.maxsize
"""More passes than any loop has."""
UNITS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
AMOUNT = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Allowance:
    """How much memory a derivative may keep, and where states of loops are stored.

    Attributes
    ----------
    nbytes : int
    folder : str or None
        For states on disk; "" for that of temporary files, None to keep them in memory.
    plans : list
        Filled by a derivative: what it has decided for its loops.
    """

    nbytes: int
    folder: str | None = None
    plans: list[Any] = field(default_factory=list, compare=False)


_allowance: ContextVar[Allowance | None] = ContextVar("mooncake_py.memory", default=None)


def allowance() -> Allowance | None:
    """Return the allowance of derivatives that begin now, None if there is no limit."""
    return _allowance.get()


@contextmanager
def allowing(given: Allowance | None) -> Iterator[None]:
    """Let derivatives within the block keep no more than an allowance."""
    token = _allowance.set(given)
    try:
        yield
    finally:
        _allowance.reset(token)


def allowed(memory: MemorySize | None, memory_on_disk: Disk) -> Allowance | None:
    """Return the allowance that two options stand for, or raise if they stand for none."""
    if isinstance(memory_on_disk, str | os.PathLike):
        folder: str | None = os.fspath(memory_on_disk)
        if not os.path.isdir(folder):
            raise InvalidModeError(
                f"memory_on_disk={folder!r} is not a folder",
                fix="pass a folder that exists, or True for that of temporary files",
            )
    else:
        require_flag("memory_on_disk", memory_on_disk)
        folder = "" if memory_on_disk else None
    if memory is None:
        if folder is not None:
            raise InvalidModeError(
                "memory_on_disk is given without memory",
                fix='say how much may be kept in memory, as memory="2 GB"',
            )
        return None
    return Allowance(bytes_of(memory), folder)


def bytes_of(memory: Any) -> int:
    """Return an amount of memory in bytes."""
    if isinstance(memory, int | np.integer) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    if isinstance(memory, str):
        found = AMOUNT.fullmatch(memory)
        if found is not None and found[2].lower() in UNITS:
            nbytes = int(float(found[1]) * UNITS[found[2].lower()])
            if nbytes > 0:
                return nbytes
    raise InvalidModeError(
        f"memory={memory!r} is not an amount of memory",
        fix='pass bytes, as memory=2_000_000_000, or text, as memory="2 GB" or "500 MiB"',
    )


def in_units(nbytes: float) -> str:
    """Return an amount of memory as text that is also accepted as one: rounded up."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if nbytes >= size:
            tenths = -int(-nbytes * 10 // size)
            return f"{tenths / 10:g} {unit}" if tenths < 100 else f"{-(-tenths // 10)} {unit}"
    return f"{int(nbytes)} B"


def all_passes(kind: str, items: Any) -> tuple[Any, ...]:
    """Return the arguments with which a function that runs passes of a loop runs all of them."""
    if kind == "while":
        return 0, ENDLESS, 1
    return (items.start, items.stop, items.step) if kind == "range" else (items,)
