"""Outputs of rules of users that are memory of an argument: refused, as they have no rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.tangents.memory import owner

if TYPE_CHECKING:
    from mooncake_py.errors import MissingRuleError
    from mooncake_py.rules.kinds import Rule
    from mooncake_py.runtime.mode import Mode, Reporting

__all__ = ["refuse_other_data", "refuse_shared", "shared_output"]


Find = Callable[[ndarray], Any]
"""Returns the tangent or shadow of an array that is active in this derivative, else None."""


def refuse_shared(rule: Rule, ctx: Mode, y: Any, find: Find | None = None) -> None:
    """Raise if a rule of the user's returns active memory, which has a derivative already."""
    if rule.by_user and is_active_memory(find or ctx.find, y):
        raise shared_output(rule, ctx)


def is_active_memory(find: Find, y: Any) -> bool:
    """Return whether an output, or a part of it, is memory that is active."""
    if type(y) is ndarray:
        return find(y) is not None
    if isinstance(y, (tuple, list)):
        return any(is_active_memory(find, part) for part in y)
    return isinstance(y, dict) and any(is_active_memory(find, part) for part in y.values())


def refuse_other_data(
    rule: Rule,
    ctx: Mode,
    out: Any,
    given: Iterable[Any],
    shadow_of: Callable[[Any], Any],
    find: Find,
) -> None:
    """Raise if an output is memory of an argument, and its shadow or tangent is not that of it.

    Parameters
    ----------
    out : CoDual or Dual
        The output of a handwritten rule.
    given : iterable of CoDual or Dual
        Its arguments.
    shadow_of : callable
        Returns the shadow, or the tangent, of one of these.
    """
    if not is_active_memory(find, out.primal) or any(out is x for x in given):
        return
    own = {id(owner(x.primal)): x for x in given if type(x.primal) is ndarray}
    for y, data in leaves(out.primal, shadow_of(out)):
        x = own.get(id(owner(y)))
        if x is not None and not (
            type(data) is ndarray and np.may_share_memory(data, shadow_of(x))
        ):
            raise shared_output(rule, ctx)


def leaves(y: Any, data: Any) -> Iterator[tuple[ndarray, Any]]:
    """Yield the arrays in an output, with the part of `data` that belongs to each."""
    if type(y) is ndarray:
        yield y, data
    elif isinstance(y, (tuple, list)) and isinstance(data, (tuple, list)) and len(y) == len(data):
        for part, own in zip(y, data, strict=True):
            yield from leaves(part, own)
    elif isinstance(y, dict) and isinstance(data, dict) and y.keys() == data.keys():
        for key in y:
            yield from leaves(y[key], data[key])


def shared_output(rule: Rule, ctx: Reporting) -> MissingRuleError:
    """Return the error for a rule of the user's that returns memory of an active argument."""
    return unsupported(
        ctx,
        f"the rule of {rule.name} returns an argument, or a view of one",
        why="memory has one derivative: that of the output would be the argument's as it is, past\n"
        f"what the rule, declared at {rule.origin}, says of it",
        fix="let the function and its rule return a copy, as by x.copy()",
    )
