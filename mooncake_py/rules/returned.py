"""What rules return in the reverse pass: a cotangent for each argument."""

from __future__ import annotations

from inspect import CO_VARARGS
from typing import Any

from mooncake_py.errors import InvalidRuleError
from mooncake_py.rules.kinds import Rule

__all__ = ["cotangents_in", "positional_count"]


def cotangents_in(
    found: Any, rule: Rule, least: int, most: int | None, takes_list: bool
) -> tuple[Any, ...]:
    """Return the cotangents that a pullback or an adjoint returned.

    Parameters
    ----------
    found : object
        What it returned: a tuple, or the cotangent of the first argument alone.
    rule : Rule
        The rule that it is of.
    least, most : int
        How many there must be, up to the last active argument, and may be; None if that is open.
    takes_list : bool
        Whether the cotangent of the first argument may be a list.

    Raises
    ------
    InvalidRuleError
        If this is None, a list for other arguments, or too few or too many.
    """
    if type(found) is not tuple:
        if found is None or (type(found) is list and not takes_list):
            raise InvalidRuleError(
                f"the rule of {rule.name} returned {'None' if found is None else 'a list'}",
                where=rule.origin,
                why="what is no tuple would be taken for the cotangent of the first argument",
                fix="return a tuple of one cotangent for each argument, None for zero",
            )
        found = (found,)
    if len(found) < least or (most is not None and len(found) > most):
        raise InvalidRuleError(
            f"the rule of {rule.name} returned {len(found)} cotangents instead of "
            f"{least if most is None else most}",
            where=rule.origin,
            why="each argument by position has one, or for linear functions each that is named by\n"
            "wrt=; the function itself and keywords have none",
            fix="return one for each of these arguments, None for zero",
        )
    return found


def positional_count(f: Any) -> int | None:
    """Return how many arguments a function takes by position at most; None if that is open."""
    code = getattr(f, "__code__", None)
    return None if code is None or code.co_flags & CO_VARARGS else code.co_argcount
