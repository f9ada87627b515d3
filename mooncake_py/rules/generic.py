"""The common part of `rrule` and `frule`: registered hand-written rules, or derived rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from mooncake_py.rules import registry
from mooncake_py.rules.domains import DTypes, RestrictedRule, restricted, rule_for
from mooncake_py.rules.kinds import HandWrittenRule
from mooncake_py.rules.misuse import require_callable, require_functions, require_positions

__all__ = ["RuleFunction"]

F = TypeVar("F", bound=Callable[..., Any])
Result = TypeVar("Result")


class RuleFunction(Generic[Result]):
    """A generic function of a function and its arguments, each paired with what a mode needs.

    Parameters
    ----------
    find : callable
        Returns the rule of a function, or None.
    add : callable
        Registers a rule.
    kind : type
        Of the rules that answer by themselves.
    """

    def __init__(
        self,
        find: Callable[[Any], Any],
        add: Callable[..., None],
        kind: type[HandWrittenRule],
    ) -> None:
        self._find = find
        self._add = add
        self._kind = kind
        self._derive: Callable[..., Result] | None = None

    def __call__(self, f: Any, *args: Any, **kwargs: Any) -> Result:
        """Run the handwritten rule of a function, or the one derived."""
        try:
            rule = self._find(f.primal)
            if type(rule) is RestrictedRule:
                rule = rule_for(rule, [a.primal for a in args], kwargs)
        except AttributeError:
            rule = None  # not a pair: what derives rules says so
        if isinstance(rule, self._kind):
            return rule.rule(f, *args, **kwargs)
        assert self._derive is not None, "set when mooncake_py.interface is imported"
        return self._derive(f, *args, **kwargs)

    def register(
        self,
        *functions: Hashable,
        mutates: int | tuple[int, ...] | None = None,
        dtypes: DTypes | None = None,
        layouts: str | None = None,
        replace: bool = False,
    ) -> Callable[[F], F]:
        """Register a hand-written rule for functions; decorates ``rule(f, *args)`` on pairs.

        Parameters
        ----------
        *functions : callable
            The functions that the rule is for.
        mutates : int or tuple of int, optional
            Positions of the arguments that the function may change in place; ``()`` for none.
            By default any argument may change, and then in reverse mode each array argument
            carries real fdata even where it is constant.
        dtypes : dtype or tuple of dtype, optional
            Of the floats and complex numbers that the rule is for.  With others the function is
            derived from its source, as if it had no rule; without source it is an error.
        layouts : str, optional
            "C", "F" or "CF": the rule is for arrays that are contiguous in one of these orders.
        replace : bool
            Override a rule of this mode that exists.

        Notes
        -----
        A rule of `frule` is used by forward mode alone, in place of what it would make of the
        function or of its other rule.
        """
        origin = registry.calling_location()
        positions = (mutates,) if isinstance(mutates, int) else mutates
        require_functions(functions, origin)
        if positions is not None:
            require_positions("mutates", positions, origin)

        def declare(rule: F) -> F:
            require_callable("the rule", rule, functions, origin)
            declared = self._kind(functions, origin, rule, positions)
            self._add(restricted(declared, dtypes, layouts), replace=replace)
            return rule

        return declare

    def derive_with(self, derive: Callable[..., Result]) -> None:
        """Set what answers for functions without a hand-written rule (used by the engine)."""
        self._derive = derive
