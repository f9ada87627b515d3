"""The random generators of compiled code, one of each kind for a thread.

Compiled code that draws from them runs only on constants.  A second run must draw the same numbers,
so the engine saves and restores their whole state: Numba's own functions omit the cached normal
number of the last pair.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

__all__ = ["GENERATORS", "Generators"]


class State(ctypes.Structure):
    """A generator, as Numba lays it out since its first one."""

    _fields_ = [
        ("index", ctypes.c_int),
        ("numbers", ctypes.c_uint * 624),
        ("has_normal", ctypes.c_int),
        ("normal", ctypes.c_double),
        ("is_seeded", ctypes.c_int),
    ]


class Generators:
    """Those of ``np.random`` and `random` in compiled code that this thread runs."""

    def addresses(self) -> tuple[int, int]:
        """Return where their states are."""
        numba: Any = sys.modules["numba._helperlib"]
        return numba.rnd_get_np_state_ptr(), numba.rnd_get_py_state_ptr()

    def getstate(self) -> tuple[bytes, ...]:
        """Return the states as bytes."""
        return tuple(ctypes.string_at(a, ctypes.sizeof(State)) for a in self.addresses())

    def setstate(self, states: tuple[bytes, ...]) -> None:
        """Put back what :meth:`getstate` returned."""
        for address, state in zip(self.addresses(), states, strict=True):
            ctypes.memmove(address, state, len(state))


GENERATORS = Generators()
