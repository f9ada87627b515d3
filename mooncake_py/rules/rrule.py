"""`rrule`, Python's spelling of ``rrule!!``: reverse-mode rules as functions of CoDuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mooncake_py.rules import registry
from mooncake_py.rules.generic import RuleFunction
from mooncake_py.rules.kinds import CoDualRule

__all__ = ["rrule"]


class ReverseRule(RuleFunction[tuple[Any, Callable[[Any], tuple[Any, ...]]]]):
    """The generic function ``rrule(f, *args) -> (output, pullback)`` over CoDuals.

    Parameters
    ----------
    f : CoDual
        The function and its fdata.
    *args : CoDual
        The arguments, each paired with the fdata into which its cotangent is accumulated.
    **kwargs : object
        Keyword arguments of the primal, constant.

    Returns
    -------
    output : CoDual
        What the primal returns, with zero fdata.
    pullback : callable
        Takes the rdata of the output; first undoes all changes to primal state, then increments
        the fdata, and returns the rdata of `f` and of each argument.
    """

    def __init__(self) -> None:
        super().__init__(registry.find, registry.add, CoDualRule)


rrule = ReverseRule()
