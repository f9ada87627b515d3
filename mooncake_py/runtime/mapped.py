"""Memory that is a file's, or shared between processes: what else sees what is written to it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator
from mmap import mmap
from typing import Any, NamedTuple

from numpy import memmap, ndarray
from numpy.lib.array_utils import byte_bounds

__all__ = ["Mapped", "is_mapped", "mapped"]

MAPS = "/proc/self/maps"  # Linux


class Mapped(NamedTuple):
    """The file that is mapped at the memory of an array, and whether it is so elsewhere, too."""

    path: str | None
    twice: bool


class Range(NamedTuple):
    """A line of the table of mappings: addresses, and the part of the file."""

    start: int
    stop: int
    is_shared: bool
    offset: int
    file: tuple[str, str]
    path: str


def mapped(a: ndarray) -> Mapped | None:
    """Return the mapping under an array whose memory no array owns; None if there is none."""
    if not is_mapped(a):
        return None
    base: Any = a
    path = None
    while path is None and isinstance(base, ndarray):
        path = base.filename if isinstance(base, memmap) else None
        base = base.base
    first = byte_bounds(a)[0]
    ranges = list(ranges_of_files())
    own = next((r for r in ranges if r.start <= first < r.stop), None)
    if own is None or not own.is_shared:
        return Mapped(None if path is None else os.fspath(path), False)
    if not elsewhere(own, ranges):
        return Mapped(own.path, False)
    gc.collect()  # what is left of an earlier call may hold the other map
    return Mapped(own.path, elsewhere(own, ranges_of_files()))


def is_mapped(a: ndarray) -> bool:
    """Return whether the memory of an array is mapped, as a file or for several processes."""
    base: Any = a
    while isinstance(base, (ndarray, memoryview)):
        base = base.obj if isinstance(base, memoryview) else base.base
    return isinstance(base, mmap)


def ranges_of_files() -> Iterator[Range]:
    """Yield the mappings of files in this process, where the system lists them."""
    try:
        with open(MAPS, encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                addresses, rights, offset, device, inode, *path = line.rstrip("\n").split(None, 5)
                if inode != "0":
                    start, stop = (int(text, 16) for text in addresses.split("-"))
                    file = device, inode
                    yield Range(start, stop, "s" in rights, int(offset, 16), file, "".join(path))
    except OSError:
        return


def elsewhere(own: Range, ranges: Iterable[Range]) -> bool:
    """Return whether a mapping of a file, and another one, have a part of it in common."""
    return any(r.file == own.file and r != own and overlap(r, own) for r in ranges)


def overlap(a: Range, b: Range) -> bool:
    """Return whether the parts of a file overlap."""
    return a.offset < b.offset + b.stop - b.start and b.offset < a.offset + a.stop - a.start
