"""Functions that printed text calls, as plain Python; `build` compiles them."""

from __future__ import annotations

from numpy import empty, float64, ndarray

__all__ = ["grow", "maximum", "minimum"]


def grow(S: ndarray, size: int) -> ndarray:
    """Return a stack with room for `size` numbers, which begins like another one."""
    more = empty(max(size, 2 * S.size), float64)
    more[: S.size] = S
    return more


def maximum(a: float, b: float) -> float:
    """Return what `numpy.maximum` does: nan if either is."""
    return a if a >= b or a != a else b


def minimum(a: float, b: float) -> float:
    """Return what `numpy.minimum` does: nan if either is."""
    return a if a <= b or a != a else b
