"""Calls at which the rules are checked: a module for each family, lists of :class:`Case`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from mooncake_py.rules.kinds import function_name
from mooncake_py.testing import test_rule
from tests.rules.written import between_writes

__all__ = ["PLAIN", "Case"]

PLAIN = {"layouts": False, "dtypes": False, "aliasing": False, "constants": False}
"""Options for functions that are derived: their parts are checked with all layouts elsewhere."""


@dataclass
class Case:
    """A function with arguments at which `test_rule` checks its rule.

    Attributes
    ----------
    function : callable
        The function whose rule is checked.
    args, kwargs : tuple, dict
        Its arguments; a check works on copies.
    label : str
        Tells apart the cases of one function.
    interface_only : bool
        The point is not smooth: check all but the derivative.
    options : dict
        Further keyword arguments of `test_rule`.
    covers : tuple
        Other functions, methods and classes that the call goes through.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    interface_only: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    covers: tuple[Hashable, ...] = ()

    @property
    def id(self) -> str:
        """Name of the case in test reports: function and label."""
        name = function_name(self.function)
        return f"{name}-{self.label}" if self.label else name

    def check(self) -> None:
        """Check the rule of the function by `test_rule`."""
        test_rule(
            self.function,
            *self.args,
            kwargs=self.kwargs,
            interface_only=self.interface_only,
            **self.options,
        )

    def check_between_writes(self) -> None:
        """Check the rule on the tape, with writes in place before and after the call."""
        test_rule(
            between_writes(self.function),
            *self.args,
            kwargs=self.kwargs,
            interface_only=self.interface_only,
            layouts=False,
            dtypes=False,
        )
