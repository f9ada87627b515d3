"""The words that tell the entry what to do for a kernel."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from mooncake_py.compiler.native.llvm.signature import Signature, Slot
from mooncake_py.compiler.native.machine.entry_text import KINDS
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT

__all__ = ["TYPES", "packed", "words_of"]

TYPES = {FLOAT: np.float64, FLOAT32: np.float32, INT: np.int64, BOOL: np.bool_}


def packed(signature: Signature, address: int, *, tells: bool) -> bytes:
    """Return the words for a kernel: see `entry_text`."""
    inputs, outputs = signature.inputs, signature.outputs
    words = [
        address, len(inputs), len(outputs), words_of(inputs), words_of(outputs), int(tells),
        0,  # no call is timed
    ]  # fmt: skip
    for slot in inputs:
        words += [KINDS[slot.kind], axes_of(slot)]
    for slot in outputs:
        source = -1 if slot.source is None else slot.source
        words += [KINDS[slot.kind], axes_of(slot), np.dtype(TYPES[slot.kind]).num, source]
    return struct.pack(f"={len(words)}q", *words)


def axes_of(slot: Slot) -> int:
    """Return the number of axes and one, 0 for a number."""
    return 0 if slot.axes is None else slot.axes + 1


def words_of(slots: Sequence[Slot]) -> int:
    """Return how many words numbers and arrays take: one at least, for those that have none."""
    return max(1, sum(max(1, axes_of(slot)) for slot in slots))
