"""The types of numbers of Python and NumPy."""

from __future__ import annotations

import numpy as np

__all__ = ["NUMBERS"]

NUMBERS = frozenset({
    int, float, complex, bool, np.bool_, np.float16, np.float32, np.float64, np.longdouble,
    np.complex64, np.complex128, np.clongdouble, np.int8, np.int16, np.int32, np.int64, np.uint8,
    np.uint16, np.uint32, np.uint64, np.longlong, np.ulonglong,
})  # fmt: skip
"""Without their subclasses, which may define operators of their own."""
