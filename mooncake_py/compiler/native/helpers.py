"""Functions that printed text calls."""

from __future__ import annotations

from numpy import empty, float64, ndarray

__all__ = ["grow"]


def grow(S: ndarray, size: int) -> ndarray:
    """Return a stack with room for `size` numbers, which begins like another one."""
    more = empty(max(size, 2 * S.size), float64)
    more[: S.size] = S
    return more
