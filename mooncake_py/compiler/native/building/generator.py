"""Generators that are made within a function."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

__all__ = ["Generator"]


@dataclass(frozen=True, eq=False)
class Generator:
    """A generator that is made within, and is read where it is consumed.

    Attributes
    ----------
    name : str
        What tells how far it has come has this name in the region.
    scope : Scope
        Its variables are there.
    body : tuple of stmt
    is_own : bool
        Whether no others have these variables, as those of the function around an expression.
    source : Value or None
        Of ``iter(source)``.
    """

    name: str
    scope: Any
    body: tuple[ast.stmt, ...]
    is_own: bool
    source: Any = None
