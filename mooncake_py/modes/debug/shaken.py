"""An estimate of the rounding error of a derivative, from small errors in all its terms.

Each cotangent is multiplied by random numbers near one before it is propagated, and each tangent
after it is computed.  If large terms cancel, their sum changes by far more than its share.  This is
Monte Carlo arithmetic, applied to derivatives only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.modes.debug.finite import nodes_in
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.quiet import Quiet

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
else:
    ForwardMode = object

__all__ = ["SPREAD", "ShakenReverse", "shaken_over"]

SPREAD = 0.25  # how far at most a number is from one


class ShakenReverse(ReverseContext):
    """Reverse mode operation by operation, with errors in all cotangents.

    Parameters
    ----------
    random : Generator
    """

    fuses = False
    has_gate = False

    def __init__(self, random: np.random.Generator) -> None:
        super().__init__()
        self.random = random

    @override
    def run_backwards(self) -> None:
        with Quiet():
            while self.tape:
                with self.taking() as entry:
                    for node in nodes_in(self.find, entry):
                        self.shake(node)
                    entry[0](entry)

    def shake(self, node: Any) -> None:
        """Change a cotangent."""
        holder = node if type(node) is Active else node.memory
        if holder.grad is not None:
            holder.grad = holder.grad * self.errors(np.shape(holder.grad))

    def errors(self, shape: tuple[int, ...]) -> Any:
        """Return random factors: a float, or an array."""
        return self.random.uniform(1.0 - SPREAD, 1.0 + SPREAD, shape or None)


class ShakenForward(ForwardMode):
    """Forward mode with errors in all tangents: to be mixed into its class."""

    def fresh(self, y: Any, t: Any) -> Any:
        """Return a new value with its tangent, changed."""
        return super().fresh(y, self.shaken(y, t))  # type: ignore[safe-super]

    def fresh_array(self, y: ndarray, t: Any) -> ndarray:
        """Return a new array with its tangent, changed."""
        return super().fresh_array(y, self.shaken(y, t))  # type: ignore[misc]

    def shaken(self, y: Any, t: Any) -> Any:
        """Return a tangent, changed unless it is that of a view."""
        if t is None or (type(y) is ndarray and y.base is not None):
            return t
        bottom: Any = self
        while not isinstance(bottom, ShakenReverse):
            bottom = bottom.base
        return self.base.call(np.multiply, t, bottom.errors(np.shape(t)))


def shaken_over(ctx: ForwardMode) -> Callable[[Any], ForwardMode]:
    """Return a function that makes a context of forward mode like another one, with errors."""
    kind: Any = type("Shaken", (ShakenForward, type(ctx)), {})
    return lambda base: kind(base, plain=False)
