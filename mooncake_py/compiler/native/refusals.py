"""The reasons why a function or a loop cannot be compiled, by the types of its arguments."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from mooncake_py.compiler.native.building.types import Type
from mooncake_py.syntax.nodes import Place

__all__ = ["OTHERWISE", "Refusal", "Refusals"]

SAME = 2  # refusals for one reason in one place


class Refusal(NamedTuple):
    """Why a function cannot be compiled, and where that stands; errors would keep their frames."""

    why: str
    place: Place | None


OTHERWISE = Refusal("", None)
"""Of what is read in another way."""


class Refusals(dict[tuple[Type, ...], Refusal]):
    """The refusals of one function or loop.

    Attributes
    ----------
    is_hopeless : bool
        Whether several readings failed in one place, so that other types will hardly help.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_hopeless = False
        self._counts: Counter[Refusal] = Counter()

    def add(self, types: tuple[Type, ...], refusal: Refusal) -> None:
        """Add the refusal of a reading."""
        self[types] = refusal
        self._counts[refusal] += 1
        self.is_hopeless = self.is_hopeless or self._counts[refusal] >= SAME

    def forget(self, types: tuple[Type, ...]) -> None:
        """Take back the refusal that was added last: reading is to be tried again."""
        refusal = self.pop(types)
        self._counts[refusal] -= 1
        self.is_hopeless = any(count >= SAME for count in self._counts.values())
