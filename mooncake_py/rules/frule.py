"""`frule`, Python's spelling of ``frule!!``: forward-mode rules as functions of Duals."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import DualRule

__all__ = ["frule"]

F = TypeVar("F", bound=Callable[..., Any])


class ForwardRule:
    """The generic function ``frule(f, *args) -> output`` over Duals.

    Parameters
    ----------
    f : Dual
        The function and its tangent, ``NoTangent()`` for one that captures nothing.
    *args : Dual
        The arguments, each paired with a tangent of its tangent type; ``NoTangent()`` holds
        anything constant.
    **kwargs
        Keyword arguments of the primal, constant.

    Returns
    -------
    Dual
        What the primal returns, and its tangent.

    Raises
    ------
    InvalidTangentError
        If a tangent does not fit its primal, or if an argument that has none would get one.

    Notes
    -----
    What the primal changes in place is changed afterwards, the tangents with the primals: arrays,
    lists, dicts and objects keep their identity.

    Examples
    --------
    >>> import math
    >>> from mooncake_py import Dual, NoTangent
    >>> frule(Dual(math.exp, NoTangent()), Dual(0.0, 3.0))
    Dual(1.0, 3.0)
    """

    def __init__(self) -> None:
        self._derive: Callable[..., Any] | None = None

    def __call__(self, f: Any, *args: Any, **kwargs: Any) -> Any:
        rule = registry.find_forward(f.primal)
        if rule is not None:
            return rule.rule(f, *args, **kwargs)
        assert self._derive is not None, "set when mooncake_py.derive is imported"
        return self._derive(f, *args, **kwargs)

    def register(
        self,
        *functions: Hashable,
        mutates: int | tuple[int, ...] | None = None,
        replace: bool = False,
    ) -> Callable[[F], F]:
        """Register a hand-written rule for functions; decorates ``rule(f, *args)`` on Duals.

        Forward mode uses it in place of what it would make of the function, or of its rule.  It
        has no part in reverse mode.

        Parameters
        ----------
        *functions : callable
            The functions that the rule is for.
        mutates : int or tuple of int, optional
            Positions of the arguments that the function may change in place; ``()`` for none.
            By default any argument may change.
        replace : bool
            Override a forward rule that exists.
        """
        origin = registry.calling_location(1)
        positions = (mutates,) if isinstance(mutates, int) else mutates

        def declare(rule: F) -> F:
            registry.add_forward(DualRule(functions, origin, rule, positions), replace=replace)
            return rule

        return declare

    def derive_with(self, derive: Callable[..., Any]) -> None:
        """Set what answers for functions without a hand-written rule (used by the engine)."""
        self._derive = derive


frule = ForwardRule()
