"""Calls at which the rules are checked: a module for each family, lists of :class:`Case`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import ElementwiseRule
from mooncake_py.testing import RuleCase

__all__ = ["PLAIN", "Case", "layouts_once", "repeated"]

PLAIN = {"layouts": False, "dtypes": False, "aliasing": False, "constants": False}
"""Options for functions that are derived: their parts are checked with all layouts elsewhere."""

ONE_LAYOUT = {"layouts": False, "aliasing": False}
UNVARIED = {**ONE_LAYOUT, "dtypes": False}
"""Options that leave out the variants of the arguments."""

ONCE: dict[str, Any] = {"order": 1, "special_points": False}
"""Options of most checks: `test_second_derivatives` checks these, at few cases in the fast set."""


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


def layouts_once(cases: Iterable[Case]) -> list[Case]:
    """Return cases of which only the first of a function goes through the layouts of memory.

    For elementwise functions: other points show other branches of the partials, which know
    nothing of layouts.
    """
    found, known = list(cases), set()
    for case in found:
        call = case.function, *case.kwargs
        if call in known:
            case.options = {**ONE_LAYOUT, **case.options}
        known.add(call)
    return found


def repeated(cases: Iterable[Case]) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Yield cases like one before, and the options that leave out what that one has shown.

    Of the calls of a function with the same keywords one goes through the variants; of the
    elementwise functions of as many arguments, which have one machinery, one through the layouts.
    """
    known = set()
    for case in cases:
        call: Any = (case.function, *case.kwargs)
        is_elementwise = isinstance(registry.find(case.function), ElementwiseRule)
        machinery = (len(case.args), *case.kwargs) if is_elementwise else call
        if call in known:
            yield case, UNVARIED
        elif machinery in known:
            yield case, ONE_LAYOUT
        known |= {call, machinery}
