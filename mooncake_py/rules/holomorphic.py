"""Partial derivatives of functions that are not holomorphic."""

from __future__ import annotations

from typing import Any

__all__ = ["Wirtinger", "wirtinger"]


class Wirtinger:
    """Partial derivatives of a function of a complex variable that is not holomorphic.

    Parameters
    ----------
    dz, dzbar : array_like or number
        Derivatives with respect to z and to its conjugate: dy = dz * dx + dzbar * conj(dx).
        The derivative along the real axis, used for real inputs, is their sum.
    """

    __slots__ = ("dz", "dzbar")
    # A product with an array is a TypeError: of an empty one NumPy would make an array of objects.
    __array_ufunc__ = None

    def __init__(self, dz: Any, dzbar: Any) -> None:
        self.dz = dz
        self.dzbar = dzbar


def wirtinger(dz: Any, dzbar: Any) -> Wirtinger:
    """Return the pair of partial derivatives of a function that is not holomorphic."""
    return Wirtinger(dz, dzbar)
