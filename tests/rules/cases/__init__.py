"""Calls at which the rules are checked: a module for each family, lists of :class:`Case`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from mooncake_py.testing import RuleCase, test_rule
from tests.rules.written import between_writes

__all__ = ["PLAIN", "Case", "layouts_once"]

PLAIN = {"layouts": False, "dtypes": False, "aliasing": False, "constants": False}
"""Options for functions that are derived: their parts are checked with all layouts elsewhere."""

ONCE: dict[str, Any] = {"order": 1, "special_points": False}
"""Options of most checks: `test_second_derivatives` checks these, at some cases in the fast set."""


@dataclass
class Case(RuleCase):
    """A case of a rule of the package.

    Attributes
    ----------
    interface_only : bool
        The point is not smooth: check all but the derivative.
    covers : tuple
        Other functions, methods and classes that the call goes through.
    """

    interface_only: bool = False
    covers: tuple[Hashable, ...] = ()

    def check(self) -> None:
        given = {"interface_only": self.interface_only, "forward": True}
        self.options = {**given, **ONCE, **self.options}
        super().check()

    def check_between_writes(self) -> None:
        """Check the rule on the tape, with writes in place before and after the call."""
        test_rule(
            between_writes(self.function),
            *self.args,
            kwargs=self.kwargs,
            interface_only=self.interface_only,
            layouts=False,
            dtypes=False,
            forward=False,  # as checked where the function is called by itself
            **ONCE,
        )


def layouts_once(cases: Iterable[Case]) -> list[Case]:
    """Return cases of which only the first of a function goes through the layouts of memory.

    For elementwise functions: other points show other branches of the partials, which know
    nothing of layouts.
    """
    found, known = list(cases), set()
    for case in found:
        use = case.function, *case.kwargs
        if use in known:
            case.options = {"layouts": False, "aliasing": False, **case.options}
        known.add(use)
    return found
