"""Outputs of a smaller type than what is computed: NumPy warns of the function, not of a cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.quiet import Unheard

__all__ = ["heard_from", "narrows"]


def heard_from(plain: Callable[[], Any], compute: Callable[[], Any]) -> Any:
    """Compute into an output; the plain call, into a copy, issues the warnings in its place."""
    try:
        plain()
    finally:  # NumPy has written before it raises, most often: the caller looks
        with Unheard():
            y = compute()
    return y


def narrows(out: ndarray, args: Any) -> bool:
    """Return whether a result is converted for its output, and warned of in other words then."""
    return out.dtype.kind in "fc" and any(
        type(a) is ndarray and a.dtype.kind in "fc" and not np.can_cast(a.dtype, out.dtype)
        for a in args
    )
