"""What a loop runs over that stays a loop over known items."""

from __future__ import annotations

from dataclasses import dataclass

from mooncake_py.compiler.native.building.values import Value
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.regions.ir import Const, Expr

__all__ = ["Alike"]


@dataclass(frozen=True, eq=False)
class Alike:
    """Values that are known one by one, in a loop that stays a loop over them.

    Attributes
    ----------
    values : tuple of Value
    start : Expr
        The first one that it runs over.
    count : Expr or None
        How many it runs over, if that is known only when it runs.
    """

    values: tuple[Value, ...]
    start: Expr = ZERO
    count: Expr | None = None

    @property
    def length(self) -> Expr:
        """How many it runs over."""
        return Const(len(self.values)) if self.count is None else self.count
