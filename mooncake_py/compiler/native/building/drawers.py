"""Generators of random numbers that are made within a function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Drawer"]


@dataclass(frozen=True, eq=False)
class Drawer:
    """A generator of random numbers that is made within.

    Attributes
    ----------
    draws : Draws
        How it is made, and what it draws.
    is_of_python : bool
        Whether it is one of Python, else of NumPy.
    blocks, loops : tuple of int, int
        The blocks of statements in which it is made, and in how many loops.
    tests, left : list of int
        The blocks under tests in which it drew last; the loops in which it drew and that may have
        been left.
    """

    draws: Any
    is_of_python: bool
    blocks: tuple[int, ...]
    loops: int = 0
    tests: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
