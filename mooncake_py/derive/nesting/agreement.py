"""Whether a function that was run again did the same: if not, its derivative would be another's."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.derive.nesting.structures import leaves
from mooncake_py.derive.recording.activity import unwrapped
from mooncake_py.errors import NestedDerivativeError

__all__ = ["Fingerprint", "something_else"]

RTOL = {"e": 1e-1, "f": 1e-3, "F": 1e-3}  # of low precision, by the character of the dtype
RTOL_DOUBLE = 1e-7


class Fingerprint:
    """Sums over the numbers in an output: enough to tell another run from rounding."""

    def __init__(self, output: Any) -> None:
        self.sums = [sums_of(unwrapped(leaf)) for leaf in leaves(output, others=True)]

    def matches(self, other: Fingerprint) -> bool:
        """Tell whether two outputs are the same but for rounding."""
        return len(self.sums) == len(other.sums) and all(
            abs(a - b) <= tolerance * size or (a != a and b != b) or a == b
            for (a, size, tolerance), (b, _, _) in zip(self.sums, other.sums, strict=True)
        )


def sums_of(leaf: Any) -> tuple[complex, float, float]:
    """Return a sum that tells the elements apart, its scale, and how exact it is."""
    flat = np.asarray(leaf).reshape(-1)
    weights = 1.0 + np.arange(flat.size) % 7
    with np.errstate(all="ignore"):
        total, size = np.sum(flat * weights), np.sum(np.abs(flat * weights))
    return complex(total), float(size), RTOL.get(flat.dtype.char, RTOL_DOUBLE)


def something_else(where: Any, name: str) -> NestedDerivativeError:
    """Return the error for a function of an inner derivative with another result."""
    return NestedDerivativeError(
        f"{name} gave another result when it was run again",
        where=where,
        why="a derivative inside another one runs its function again, and here it does not find "
        "what\nthe first run has found: an iterator from outside that moved on, a file, the clock, "
        "or,\nfor a pullback, arrays, lists or attributes that were changed after the call of vjp",
        mend="take what changes as an argument, or a copy of it",
    )
