"""What a loop runs over that stays a loop over known items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mooncake_py.compiler.native.building.values import Value
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.regions.ir import Const, Expr

__all__ = ["Alike", "part_at"]


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
    period : int
        So many follow one another in each pass, of which each may be of another kind.
    path : tuple of str
        How they are found among the items of a loop, if they are a part of them: `part_at`.
    """

    values: tuple[Value, ...]
    start: Expr = ZERO
    count: Expr | None = None
    period: int = 1
    path: tuple[str, ...] = ()

    @property
    def length(self) -> Expr:
        """How many passes there are."""
        return Const(len(self.values) // self.period) if self.count is None else self.count

    @property
    def parts(self) -> list[Alike]:
        """Those that are first in each pass, those that are second, and so on."""
        if self.period == 1:
            return [self]
        step = self.period
        return [Alike(self.values[k::step], path=(f"{k}/{step}",)) for k in range(step)]


def part_at(values: Sequence[Value], step: str) -> Sequence[Value]:
    """Return the items that a step of a path tells: each so many from one on."""
    first, period = map(int, step.split("/"))
    return values[first::period]
