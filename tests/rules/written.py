"""Functions with writes in place before and after, to check rules on the tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["between_writes"]


def between_writes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose operands were written before, and are overwritten after the call.

    What a pullback reads must be what the call saw; the output is written as well.
    """

    def program(*args: Any, **kwargs: Any) -> Any:
        operands = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        for a in operands:
            if isinstance(a, np.ndarray):
                a *= 1.25
        y = function(*operands, **kwargs)
        for a in operands:
            if isinstance(a, np.ndarray):
                a[...] = 0.5
        for part in y if isinstance(y, tuple) else (y,):
            if isinstance(part, np.ndarray) and part.dtype.kind in "fc" and part.flags.writeable:
                part *= 2
        return y

    return program
