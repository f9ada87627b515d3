"""A program that is differentiated unchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """A program that returns one number.

    Parameters
    ----------
    run : callable
    arguments : callable
        Returns new arguments for `run`.
    argnums : tuple of int
        The arguments that are differentiated.
    group : str
        Where the program spends its calls: "objects", "scalars", "arrays" or "callbacks".
    """

    run: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    argnums: tuple[int, ...]
    group: str
