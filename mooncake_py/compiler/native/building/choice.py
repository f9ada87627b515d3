"""One of several values, which is known only when the code runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from mooncake_py.compiler.regions.ir import Name

__all__ = ["Choice"]


@dataclass(frozen=True)
class Choice:
    """One of several values.

    Attributes
    ----------
    tag : Name
        Of an int that tells which.
    numbers : tuple of int
        What it is for each of them.
    options : tuple of Value
    """

    tag: Name
    numbers: tuple[int, ...]
    options: tuple[Any, ...]

    @property
    def items(self) -> tuple[Any, ...]:
        """All that it may be."""
        return self.options

    def mapped(self, f: Callable[[Any], Any]) -> Choice:
        """Return a choice of other values."""
        return replace(self, options=tuple(map(f, self.options)))
