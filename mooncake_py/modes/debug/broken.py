"""The error for a rule that violates its contract."""

from __future__ import annotations

from typing import Any

from mooncake_py.errors import InvalidRuleError, InvalidTangentError
from mooncake_py.rules.kinds import Rule

__all__ = ["broken", "misfit"]


def broken(rule: Rule, what: str, expected: Any, got: Any, fix: str) -> InvalidRuleError:
    """Return the error: what the rule did, what was expected and what was found."""
    return InvalidRuleError(
        f"the rule of {rule.name} {what}",
        why=f"expected: {expected}\ngot:      {got}\nthe rule is declared at {rule.origin}",
        fix=fix,
    )


def misfit(rule: Rule, what: str, error: InvalidTangentError, fix: str) -> InvalidRuleError:
    """Return the error for tangents that do not fit a primal."""
    return InvalidRuleError(
        f"the rule of {rule.name} {what}: {error.what}",
        why=f"{error.why}\nthe rule is declared at {rule.origin}",
        fix=fix,
    )
