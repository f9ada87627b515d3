"""Checks of the declaration of a rule: dtypes, layouts and changed arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules.domains import RestrictedRule, misfit
from mooncake_py.rules.kinds import (
    BilinearRule,
    ElementwiseRule,
    HandWrittenRule,
    LinearRule,
    Rule,
    VjpRule,
    ZeroDerivativeRule,
)
from mooncake_py.testing.case import Case, Inputs, path
from mooncake_py.testing.failure import failure
from mooncake_py.testing.forward_checks import Reference
from mooncake_py.testing.structure import is_inexact, walk_all

__all__ = ["check_domain", "check_mutates", "declared_dtypes", "is_within"]

PURE = (ElementwiseRule, LinearRule, BilinearRule, VjpRule, ZeroDerivativeRule)


def is_within(rule: Rule | None, inputs: Inputs) -> bool:
    """Return whether the declaration of a rule includes some inputs."""
    return why_outside(rule, inputs) is None


def why_outside(rule: Rule | None, inputs: Inputs) -> str | None:
    """Return the argument that the declaration of a rule excludes, or None."""
    if type(rule) is not RestrictedRule:
        return None
    return misfit(rule.domain, inputs.values[1:], inputs.kwargs)


def check_domain(case: Case, rule: Rule | None) -> None:
    """Check that the declaration of the rule includes the arguments."""
    found = why_outside(rule, case.inputs)
    if found is not None:
        assert isinstance(rule, RestrictedRule)
        raise failure(
            "domain",
            of=case.title,
            expected=f"arguments that the rule is declared for: {rule.domain}",
            got=found,
            hint="the engine does not use the rule for these arguments; pass others, or declare "
            f"the rule at {rule.origin} for them",
        )


def check_mutates(case: Case, rule: Rule | None, reference: Reference) -> None:
    """Check that a rule declares the arguments that its function changes."""
    inner = rule.rule if isinstance(rule, RestrictedRule) else rule
    if inner is None or not inner.by_user:
        return
    if isinstance(inner, HandWrittenRule):
        if inner.mutates is None:
            return
        allowed, declared = inner.mutates, f"mutates={inner.mutates}"
    elif isinstance(inner, PURE):
        allowed, declared = (), f"{inner.declaration}: a function that changes nothing"
    else:
        return
    changed = tuple(sorted(i - 1 for i in reference.mutated if i and i - 1 not in allowed))
    if changed:
        every = tuple(sorted({*changed, *allowed}))
        positions = every[0] if len(every) == 1 else every
        raise failure(
            "mutates",
            of=case.title,
            path=path(changed[0] + 1),
            expected=f"only changes that the rule declares ({declared})",
            got=f"the function changes {', '.join(path(i + 1) for i in changed)}",
            hint=f"declare them, rrule.register(f, mutates={positions}), with a rule that undoes "
            "the change; otherwise the engine assumes that the memory is constant, and its "
            "readers get a wrong gradient",
        )


def declared_dtypes(case: Case) -> str:
    """Return the text of a declaration for the dtypes of the arguments given."""
    values = (part for _, part in walk_all(case.inputs.roots()) if is_inexact(part))
    names = dict.fromkeys(f"np.{dtype_of(value)}" for value in values)
    return next(iter(names)) if len(names) == 1 else f"({', '.join(names)})"


def dtype_of(value: Any) -> Any:
    """Return the dtype of an array or a number."""
    return value.dtype if hasattr(value, "dtype") else np.dtype(type(value))
