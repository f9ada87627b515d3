"""Calls with too few or too many arguments: what the plain call raises."""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any

import numpy as np

from mooncake_py.application.out_argument import signature_of
from mooncake_py.runtime.activity import unwrapped

__all__ = ["MISFITS", "require_arguments"]

MISFITS = (TypeError, ValueError, IndexError)
"""The exceptions of handlers that unpack the arguments of such a call."""

# Of functions in C that do not tell their signature.
COUNTS = {
    builtins.getattr: (2, 3), builtins.iter: (1, 2), builtins.next: (1, 2), math.log: (1, 2),
    builtins.filter: (2, 2), builtins.reversed: (1, 1), functools.reduce: (2, 3),
    dict.pop: (2, 3), np.dot: (2, 3), np.ndarray.dot: (2, 3), np.where: (1, 3),
}  # fmt: skip


def require_arguments(f: Any, args: Any, kwargs: Any) -> None:
    """Raise what the plain call does, if a function does not take these arguments."""
    if not takes(f, args, kwargs):
        f(*map(unwrapped, args), **unwrapped(kwargs))


def takes(f: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a function takes as many arguments, and of these names, if that is known."""
    if isinstance(f, np.ufunc):
        return f.nin <= len(args) <= f.nargs
    if f in COUNTS:
        least, most = COUNTS[f]
        return least <= len(args) <= most
    signature = signature_of(f)
    if signature is None:
        return True
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True
