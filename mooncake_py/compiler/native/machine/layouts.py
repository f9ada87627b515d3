"""Where C structures of Python and NumPy have what the entry reads; checked before it is used."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from functools import cache

import numpy as np

__all__ = ["DATA", "DIMENSIONS", "NUMBER_OF_AXES", "TYPE", "are_known"]

TYPE = 8
"""Of an object: its type."""

DATA, NUMBER_OF_AXES, DIMENSIONS = 16, 24, 32
"""Of an array: where its numbers are, and where its lengths are."""


class Examples:
    """Arrays of several kinds, to look into."""

    EMPTY = np.empty((0, 3))
    WITHOUT_AXES = np.array(1.5)
    LONG = np.arange(7.0)
    VIEW = np.arange(24.0).reshape(2, 3, 4)[1:]
    INTS = np.arange(6).reshape(3, 2)
    TRUTHS = np.array([True, False])


@cache
def are_known() -> bool:
    """Return whether objects here look as the entry takes them to look.

    They do not in builds without a global lock, in debug builds that trace references, and in
    other Pythons than CPython.
    """
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return False
    if object.__basicsize__ != 16 or np.ndarray.__basicsize__ < DIMENSIONS + 8:
        return False
    return all(is_as_known(a) for a in vars(Examples).values() if isinstance(a, np.ndarray))


def is_as_known(a: np.ndarray) -> bool:
    """Return whether an array has everything at its place."""
    start = id(a)
    dimensions = word(start + DIMENSIONS)
    return (
        word(start + TYPE) == id(np.ndarray)
        and ctypes.c_int.from_address(start + NUMBER_OF_AXES).value == a.ndim
        and word(start + DATA) == a.ctypes.data
        and tuple(word(dimensions + 8 * k) for k in range(a.ndim)) == a.shape
    )


def word(address: int) -> int:
    """Return the word at an address."""
    return ctypes.c_uint64.from_address(address).value
