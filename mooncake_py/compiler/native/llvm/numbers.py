"""Kinds of numbers as types of LLVM: in registers, in memory, and written down."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT

__all__ = ["IN_MEMORY", "REGISTER", "SIZE", "SUFFIX", "ZERO", "ZEROS", "constant", "joined"]

REGISTER = {FLOAT: "double", FLOAT32: "float", INT: "i64", BOOL: "i1"}
"""The type of a number that is reckoned with."""
IN_MEMORY = REGISTER | {BOOL: "i8"}
"""The type of an element of an array."""
SIZE = {FLOAT: 8, FLOAT32: 4, INT: 8, BOOL: 1}
"""Bytes of an element."""
SUFFIX = {FLOAT: "f64", FLOAT32: "f32", INT: "i64"}
"""The suffixes of the names of LLVM's own functions."""
ZERO = {FLOAT: "0.0", FLOAT32: "0.0", INT: "0", BOOL: "false"}


def constant(value: float, kind: str) -> str:
    """Return a number of a kind as it is written in the text: floats by their bits."""
    if kind == BOOL:
        return "true" if value else "false"
    if kind == INT:
        return str(int(value))
    x = float(value)
    if kind == FLOAT32:
        with np.errstate(over="ignore"):
            x = float(np.float32(x))
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


ZEROS = frozenset({ZERO[FLOAT], constant(0.0, FLOAT), constant(-0.0, FLOAT)})
"""Zeros of floats as they are written."""


def joined(kinds: Iterable[str]) -> str:
    """Return the kind in which numbers are computed together; float32 and int give float64."""
    found = set(kinds)
    if FLOAT in found or found >= {FLOAT32, INT}:
        return FLOAT
    return FLOAT32 if FLOAT32 in found else INT if INT in found else BOOL
