"""States of checkpoints on disk: old contents of arrays in files, which are mapped into memory.

A file has no name, where the system allows that, and its space is free again when the state is
dropped.  Objects and arrays that names were bound to stay in memory: they are the same objects when
the part runs again.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.memory import undo_assign
from mooncake_py.tangents.memory import owner

__all__ = ["on_disk"]

Entry = tuple[Any, ...]

LEAST = 1 << 16
"""Bytes of an array that is worth a file."""


def on_disk(entry: Entry, folder: str) -> Entry:
    """Return an entry that undoes a write, with the old contents in a file if they are large."""
    if entry[0] is not undo_assign:
        return entry
    old = entry[3]
    if type(old) is not ndarray or old.nbytes < LEAST or old.dtype.kind in "OV":
        return entry
    if owner(old) is not old:  # not a copy of our own
        return entry
    return *entry[:3], stored(old, folder), *entry[4:]


def stored(a: ndarray, folder: str) -> ndarray:
    """Return an array with the same contents in a file, laid out the same."""
    with tempfile.TemporaryFile(dir=folder or None) as file:
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
        mapped = np.memmap(file, a.dtype, "w+", shape=a.shape, order=order)
    mapped[...] = a
    mapped.flush()
    return mapped.view(ndarray)
