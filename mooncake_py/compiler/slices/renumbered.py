"""Statements whose functions are numbered as those of the region that they are in."""

from __future__ import annotations

from collections.abc import Sequence

from mooncake_py.compiler.statements.core import bound
from mooncake_py.compiler.statements.statement import Part, Statement, View

__all__ = ["renumbered"]


def renumbered(statement: Statement, numbers: Sequence[int]) -> Statement:
    """Return a statement with other numbers of its functions."""
    layout: list[Part] = []
    for part in statement.layout:
        if isinstance(part, View) and isinstance(part.function, int):
            part = part._replace(function=numbers[part.function])
        layout.append(part)
    value = bound(statement.value, numbers)
    return statement._replace(value=value, layout=tuple(layout))
