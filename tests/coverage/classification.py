"""How each public name of NumPy is treated: by a rule, derived, without a derivative, refused."""

from __future__ import annotations

from typing import Any, NamedTuple

from mooncake_py.language import intrinsics
from mooncake_py.rules import registry
from mooncake_py.rules.coverage import declaration
from mooncake_py.rules.kinds import RefusedRule, ZeroDerivativeRule
from mooncake_py.runtime import scatter
from tests.coverage.names import SECTIONS, members
from tests.coverage.reasons import REASONS, TESTED_ELSEWHERE, UNSUPPORTED
from tests.rules.test_registry import functions_with_cases

__all__ = ["DERIVED", "NONE", "REFUSED", "RULE", "UNKNOWN", "Entry", "entries"]

RULE = "By a rule"
DERIVED = "Derived from source"
NONE = "No derivative"
REFUSED = "Refused where active"
UNKNOWN = "Unknown"


class Entry(NamedTuple):
    """A public name, how it is treated, and the declaration or the reason."""

    section: str
    name: str
    status: str
    because: str


def entries() -> list[Entry]:
    """Return an entry for each public name."""
    tested = functions_with_cases()
    return [
        Entry(section, name, *treatment(f"{section}.{name}", found, tested))
        for section, owner in SECTIONS.items()
        for name, found in members(owner)
    ]


def treatment(name: str, found: Any, tested: Any) -> tuple[str, str]:
    """Return the status of one name, and why."""
    if name in UNSUPPORTED:
        return REFUSED, UNSUPPORTED[name]
    if name in TESTED_ELSEWHERE:
        return DERIVED, ""
    if name in REASONS:
        return NONE, REASONS[name]
    try:
        rule = registry.find(found)
        is_tested = found in tested
        is_native = found in intrinsics.HANDLERS or found in scatter.HANDLERS
    except TypeError:  # it cannot be hashed
        return UNKNOWN, ""
    if isinstance(rule, RefusedRule):
        return REFUSED, rule.why
    if isinstance(rule, ZeroDerivativeRule):
        return NONE, rule.because
    if rule is not None:
        return RULE, declaration(rule)
    if is_native:
        return RULE, "native"
    return (DERIVED, "") if is_tested else (UNKNOWN, "")
