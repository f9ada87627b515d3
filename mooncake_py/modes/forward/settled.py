"""Tangents that are not known, and must not reach the output of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.modes.forward.duals import TangentFinder
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext

__all__ = ["require_settled"]


def require_settled(ctx: ForwardContext, value: Any, error: Callable[[], Exception]) -> None:
    """Raise an error if a tangent of a value is nan; the unknown ones are."""
    _Required(ctx, error).visit(value)


class _Required(TangentFinder):
    """Visits the numbers and arrays of a value."""

    def __init__(self, ctx: ForwardContext, error: Callable[[], Exception]) -> None:
        super().__init__(ctx)
        self.error = error

    def require(self, tangent: Any) -> None:
        """Raise if a tangent is nan."""
        if tangent is not None and np.any(np.isnan(unwrapped(tangent))):
            raise self.error()

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        if type(value) is Active and value.context is self.ctx:
            self.require(value.grad)
        return super().visit_scalar(value)

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        self.require(self.ctx.blocks.tangent_of(value))
        return super().visit_array(value)
