"""`rrule`, Python's spelling of ``rrule!!``: reverse-mode rules as functions of CoDuals."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import CoDualRule

__all__ = ["rrule"]

F = TypeVar("F", bound=Callable[..., Any])


class ReverseRule:
    """The generic function ``rrule(f, *args) -> (output, pullback)`` over CoDuals.

    Parameters
    ----------
    f : CoDual
        The function and its fdata.
    *args : CoDual
        The arguments, each paired with the fdata into which its cotangent is accumulated.
    **kwargs
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
        self._derive: Callable[..., tuple[Any, Callable[..., Any]]] | None = None

    def __call__(
        self, f: Any, *args: Any, **kwargs: Any
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        rule = registry.find(f.primal)
        if isinstance(rule, CoDualRule):
            return rule.rule(f, *args, **kwargs)
        assert self._derive is not None, "set when mooncake_py.derive is imported"
        return self._derive(f, *args, **kwargs)

    def register(
        self,
        *functions: Hashable,
        mutates: int | tuple[int, ...] | None = None,
        replace: bool = False,
    ) -> Callable[[F], F]:
        """Register a hand-written rule for functions; decorates ``rule(f, *args)`` on CoDuals.

        Parameters
        ----------
        *functions : callable
            The functions that the rule is for.
        mutates : int or tuple of int, optional
            Positions of the arguments that the function may change in place; ``()`` for none.
            By default any argument may change, and then each array argument carries real fdata
            even where it is constant.
        replace : bool
            Override a rule that exists.
        """
        origin = registry.calling_location(1)
        positions = (mutates,) if isinstance(mutates, int) else mutates

        def declare(rule: F) -> F:
            registry.add(CoDualRule(functions, origin, rule, positions), replace=replace)
            return rule

        return declare

    def derive_with(self, derive: Callable[..., tuple[Any, Callable[..., Any]]]) -> None:
        """Set what answers for functions without a hand-written rule (used by the engine)."""
        self._derive = derive


rrule = ReverseRule()
