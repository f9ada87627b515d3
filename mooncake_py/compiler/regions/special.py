"""The functions of numbers in SciPy that compiled code calls: those that Cython code can call."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any

import numpy as np

from mooncake_py.optional import import_extension

__all__ = ["SPECIAL", "is_special", "special_capsule", "special_symbol"]

SPECIAL = "mc_special_"
"""How the names of these functions begin in compiled text."""
FUSED = re.compile(r"__pyx_fuse_(?:\d_)*\d(.+)")
OF_DOUBLES = re.compile(r"double \(((?:double, )+)int __pyx_skip_dispatch\)")


@cache
def capsules() -> dict[str, Any]:
    """Return the functions that take and give float64 only, by their symbols."""
    try:
        found = import_extension("scipy.special", "cython_special").__pyx_capi__
    except (ImportError, AttributeError):
        return {}
    result: dict[str, Any] = {}
    for name, capsule in found.items():
        signature = OF_DOUBLES.fullmatch(signature_of(capsule))
        if signature is not None:
            fused = FUSED.fullmatch(name)
            own = fused[1] if fused else name
            result[f"{SPECIAL}{own}_{signature[1].count(',')}"] = capsule
    return result


def signature_of(capsule: Any) -> str:
    """Return the types in the name of a capsule."""
    api = ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    return name_of(capsule).decode()


def special_symbol(f: Any, count: int) -> str | None:
    """Return the name of a ufunc of SciPy in compiled text; None for any other function."""
    if type(f) is not np.ufunc or getattr(np, f.__name__, None) is f:
        return None
    symbol = f"{SPECIAL}{f.__name__}_{count}"
    return symbol if symbol in capsules() else None


def is_special(f: Any) -> bool:
    """Return True for a ufunc of SciPy that compiled code can call."""
    return type(f) is np.ufunc and f.nout == 1 and special_symbol(f, f.nin) is not None


def special_capsule(symbol: str) -> Any:
    """Return a capsule that holds the address of a function."""
    return capsules().get(symbol)
