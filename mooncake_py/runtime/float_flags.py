"""The flags of the processor for floating-point errors, which compiled code leaves as NumPy's does.

NumPy warns where it finds one of them after an operation.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["are_raised", "clear", "cleared", "found"]

FLAGS: dict[str, dict[str, int]] = {
    "x86": {"invalid": 1, "divide": 4, "over": 8, "under": 16},
    "arm": {"invalid": 1, "divide": 2, "over": 4, "under": 8},
}  # fmt: skip
MACHINES = {"x86_64": "x86", "amd64": "x86", "aarch64": "arm", "arm64": "arm"}
_flags = FLAGS.get(MACHINES.get(platform.machine().lower(), ""))


def _function(name: str) -> Callable[[int], int] | None:
    """Return a function of C's ``fenv.h``, None where it is not found."""
    for library in (None, "libm.so.6"):
        try:
            found: Any = getattr(ctypes.CDLL(library), name)
        except (AttributeError, OSError, TypeError):
            continue
        found.argtypes, found.restype = [ctypes.c_int], ctypes.c_int
        return found
    return None


_clear, _test = _function("feclearexcept"), _function("fetestexcept")
_of_numbers = sum(flag for error, flag in (_flags or {}).items() if error != "under")


def clear() -> None:
    """Clear the flags of the errors of which NumPy warns by default, where that is possible."""
    if _clear is not None:
        _clear(_of_numbers)


def are_raised() -> bool:
    """Return whether there was such an error since `clear`, as far as that is known."""
    return _test is not None and _test(_of_numbers) != 0


def cleared() -> int:
    """Clear the flags of those errors of which NumPy warns now; return these flags, for `found`."""
    modes = np.geterr()
    if _flags is None or _clear is None or _test is None:
        return -1
    mask = sum(flag for error, flag in _flags.items() if modes[error] == "warn")
    _clear(mask)
    return mask


def found(mask: int) -> bool:
    """Return whether there was such an error since `cleared`, or whether that is not known."""
    return mask < 0 or _test is None or _test(mask) != 0
