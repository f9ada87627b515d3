"""A copy of a rule whose functions check their inputs and outputs."""

from __future__ import annotations

from typing import Any

from mooncake_py.modes.debug.coduals import checked_codual
from mooncake_py.modes.debug.declared import (
    checked_bilinear,
    checked_elementwise,
    checked_linear,
    checked_vjp,
)
from mooncake_py.rules.kinds import (
    BilinearRule,
    CoDualRule,
    ElementwiseRule,
    LinearRule,
    Rule,
    VjpRule,
)

__all__ = ["checked"]

CHECKED: dict[type[Rule], Any] = {
    ElementwiseRule: checked_elementwise,
    LinearRule: checked_linear,
    BilinearRule: checked_bilinear,
    VjpRule: checked_vjp,
    CoDualRule: checked_codual,
}


def checked(rule: Rule) -> Rule:
    """Return the rule with checks; overlays and zero derivatives have nothing to check."""
    make = CHECKED.get(type(rule))
    return rule if make is None else make(rule)
