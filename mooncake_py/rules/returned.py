"""The cotangents that rules return in the reverse pass, one for each argument."""

from __future__ import annotations

from inspect import CO_VARARGS
from typing import Any

import numpy as np

from mooncake_py.errors import InvalidRuleError, InvalidTangentError
from mooncake_py.rules.kinds import Rule
from mooncake_py.words import with_article

__all__ = [
    "cotangents_in", "output_and_pullback", "positional_count", "require_shape", "require_tangent",
]  # fmt: skip


def output_and_pullback(result: Any, rule: Rule) -> Any:
    """Return the output and the pullback of a rule ``(*args) -> (output, pullback)``, or raise."""
    if isinstance(result, (tuple, list)) and len(result) == 2 and callable(result[1]):
        return result
    if isinstance(result, (tuple, list)):
        kinds = ", ".join([type(part).__name__ for part in result])
        got = f"{len(result)} values: {kinds}"
    else:
        got = "None" if result is None else with_article(type(result).__name__)
    raise InvalidRuleError(
        f"the rule of {rule.name} returned no output with its pullback, but {got}",
        where=rule.origin,
        why="the pullback is a function from the cotangent of the output to those of the arguments",
        fix="return the output and the pullback, as in: return f(x), lambda dy: (dy * ...,)",
    )


def require_shape(c: Any, t: Any, rule: Rule, position: int) -> None:
    """Raise if a cotangent has not the shape of its argument, nor is spread over more axes."""
    shape, wanted = np.shape(c), np.shape(t)
    own = shape[max(0, len(shape) - len(wanted)) :]
    if all(m in (n, 1) or n == 1 for m, n in zip(own[::-1], wanted[::-1], strict=False)):
        return
    raise InvalidTangentError(
        f"a cotangent of shape {shape} does not fit an argument of shape {wanted}",
        where=rule.origin,
        why=f"the rule of {rule.name} returned it for argument {position}",
        fix="run test_rule on the rule",
    )


def require_tangent(t: Any, y: Any, rule: Rule) -> None:
    """Raise if the tangent of an array, by the `jvp` of a rule, does not have its shape."""
    if not isinstance(y, np.ndarray) or t is None or np.shape(t) in ((), y.shape):
        return
    raise InvalidTangentError(
        f"a tangent of shape {np.shape(t)} does not fit an output of shape {y.shape}",
        where=rule.origin,
        why=f"the jvp of the rule of {rule.name} returned it",
        fix="return a tangent of the shape of the output, None for zero",
    )


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
                why="anything but a tuple would be taken for the cotangent of the first argument",
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
