"""What forward mode promises besides: what computes tangents elsewhere relies on it."""

from __future__ import annotations

from typing import Any, Protocol

from numpy import ndarray

from mooncake_py.runtime.mode import Mode

__all__ = ["ForwardMode"]


class ForwardMode(Mode, Protocol):
    """One forward-mode call: primals and tangents are values of the mode below.

    Attributes
    ----------
    base : Mode
        What computes primals and tangents, and undoes writes.
    plain : bool
        Whether nothing is active below: then tangents are computed natively.
    is_last : bool
        The same, also where debug mode checks what is computed below.
    blocks : Blocks
        The tangents of arrays.
    """

    base: Mode
    plain: bool
    is_last: bool
    blocks: Any

    def split(self, value: Any) -> tuple[Any, Any]:
        """Return the primal and the tangent of a number or an array; None for zero."""
        ...

    def fresh(self, y: Any, t: Any) -> Any:
        """Return a new value with its tangent; None for zero."""
        ...

    def tangent_to_write(self, a: ndarray) -> ndarray:
        """Return the tangent of an array for a region to read and write."""
        ...
