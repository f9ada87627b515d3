"""What a loop runs over that stays a loop over known items."""

from __future__ import annotations

from dataclasses import dataclass

from mooncake_py.compiler.native.building.values import Value

__all__ = ["Alike"]


@dataclass(frozen=True, eq=False)
class Alike:
    """Values that are known one by one, in a loop that stays a loop over them."""

    values: tuple[Value, ...]
