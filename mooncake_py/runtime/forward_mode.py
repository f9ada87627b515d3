"""The protocol of forward mode, beyond that of any mode, for code that computes tangents."""

from __future__ import annotations

from typing import Any, Protocol

from numpy import ndarray

from mooncake_py.runtime.mode import Mode

__all__ = ["ForwardMode"]


class ForwardMode(Mode, Protocol):
    """One forward-mode call: primals and tangents are values of the mode below."""

    base: Mode  # what computes primals and tangents, and undoes writes
    plain: bool  # whether nothing is active below: then tangents are computed natively
    is_last: bool  # the same, also where debug mode checks what is computed below
    blocks: Any  # the tangents of arrays

    # Return the primal and the tangent of a number or an array; None for zero.
    def split(self, value: Any) -> tuple[Any, Any]: ...
    # Return a new value with its tangent; None for zero.
    def fresh(self, y: Any, t: Any) -> Any: ...
    # Return the tangent of an array for a region to read and write.
    def tangent_to_write(self, a: ndarray) -> ndarray: ...
    # Run ``t[i] = v`` for a tangent.
    def write(self, t: ndarray, i: Any, v: Any) -> None: ...
