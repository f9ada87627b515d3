"""Options that leave checks out, and their text in failures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mooncake_py.errors import MooncakeWarning, RuleTestError, describe
from mooncake_py.rules.domains import unrestricted
from mooncake_py.rules.kinds import OverlayRule, Rule, ZeroDerivativeRule
from mooncake_py.testing.case import Case
from mooncake_py.testing.domain_checks import declared_dtypes
from mooncake_py.testing.structure import is_inexact, walk_all
from mooncake_py.testing.variants import Variant

__all__ = ["naming", "warn_of_ints", "warn_of_restrictions"]

_DECLARED = "the engine then uses it for nothing else, and test_rule tests just that"

_MEANINGS = {
    "aliasing": "rules for arguments that share no memory",
    "constants": "rules for arguments that are all active",
    "cotangent_kept": "rules that use up the cotangent of their output",
    "forward": "rules that forward mode does not use",
    "order": "rules without second derivatives",
    "shapes": "rules for arrays with as many axes and elements as these",
    "special_points": "rules that nothing calls at such points",
}


@contextmanager
def naming(option: str, case: Case, variant: str = "") -> Iterator[None]:
    """Add to a failure in this block the option that leaves the check out.

    Parameters
    ----------
    option : str
        Option of `test_rule`; "shapes" is a part of `layouts`.
    case : Case
        The check at the original arguments.
    variant : str
        The changed inputs.
    """
    try:
        yield
    except RuleTestError as error:
        error.fix = f"{error.fix}\n{meaning(option, case, variant)}"
        error.args = (describe(error.what, where=error.where, why=error.why, fix=error.fix),)
        raise


def warn_of_restrictions(
    case: Case, rule: Rule | None, wrong: Callable[[], Iterable[Variant]]
) -> None:
    """Warn of variants that options leave out, although the engine uses the rule for them.

    Parameters
    ----------
    case : Case
    rule : Rule or None
        The declared rule.
    wrong : callable
        Returns the variants at which the rule is wrong.
    """
    if rule is None or not rule.by_user or isinstance(unrestricted(rule), OverlayRule):
        return
    found = {variant.option: variant for variant in wrong()}
    for option, variant in found.items():
        warnings.warn(
            f"test_rule({option}=False) leaves out what the rule of {case.name} is wrong for: "
            f"{variant.label}.\n{meaning(option, case, variant.label)}",
            MooncakeWarning,
            stacklevel=4,
        )


def warn_of_ints(case: Case, rule: Rule | None) -> None:
    """Warn if an argument is an int and there are no floats, so that no derivative was compared.

    Parameters
    ----------
    case : Case
    rule : Rule or None
        The declared rule.  Those of the package and by `zero_derivative` may be for ints.
    """
    if rule is None:
        may_be_for_ints = not hasattr(case.inputs.values[0], "__code__")  # an operator
    else:
        may_be_for_ints = not rule.by_user or isinstance(unrestricted(rule), ZeroDerivativeRule)
    if may_be_for_ints:
        return
    values = [value for _, value in walk_all(case.inputs.roots())]
    if any(map(is_integral, case.inputs.values[1:])) and not any(map(is_inexact, values)):
        warnings.warn(
            f"test_rule compared no derivative of {case.name}: all numbers in the arguments are "
            "ints; pass floats",
            MooncakeWarning,
            stacklevel=4,
        )


def is_integral(value: Any) -> bool:
    """Return whether a value is an int, or an array of ints."""
    kind = value.dtype.kind if isinstance(value, (np.ndarray, np.generic)) else ""
    return type(value) is int or kind in ("i", "u")


def meaning(option: str, case: Case, variant: str = "") -> str:
    """Return a description of an option for a rule."""
    if option == "dtypes":
        names = declared_dtypes(case)
        return (
            f"for {in_words(names)} only: declare the rule with dtypes={names}; {_DECLARED}\n"
            "(dtypes=False leaves these checks out, but the rule is used all the same)"
        )
    if option == "layouts":
        order = "F" if variant == "C order" else "C"
        return (
            f'for arrays in {order} order only: declare the rule with layouts="{order}"; '
            f"{_DECLARED}\n"
            "(layouts=False leaves these checks out, but the rule is used all the same)"
        )
    name = {"shapes": "layouts=False", "order": "order=1"}.get(option, f"{option}=False")
    return f"{name} leaves this check out: for {_MEANINGS[option]}"


def in_words(names: str) -> str:
    """Return a description of the precision of some dtypes."""
    return {
        "np.float64": "real double precision",
        "np.float32": "real single precision",
        "np.complex128": "complex double precision",
        "np.complex64": "complex single precision",
    }.get(names, "these dtypes")
