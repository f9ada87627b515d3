"""The arguments that a rule by partial derivatives covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mooncake_py.errors import Location, MissingRuleError
from mooncake_py.rules.kinds import function_name

__all__ = ["missing_partial"]

OF_RESULTS = frozenset({"out", "where"})  # which say where results go


def missing_partial(
    function: Any,
    count: int,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    place: Callable[[], Location | None] = lambda: None,
) -> MissingRuleError | None:
    """Return the error for an argument beyond the `count` inputs that have a partial, or None.

    The partials do not receive it, so they may be wrong for its value.  The options of ufuncs
    (`dtype`, `casting`) change no derivative.
    """
    if isinstance(function, np.ufunc):
        return None
    further = [f"argument {i}" for i in range(count, len(args))]
    further += [f"argument {name!r}" for name in kwargs if name not in OF_RESULTS]
    if not further:
        return None
    inputs = "one input" if count == 1 else f"the first {count} inputs"
    return MissingRuleError(
        f"the rule of {function_name(function)} does not cover {' and '.join(further)}",
        where=place(),
        why=f"it has partial derivatives for {inputs} only, and these do not receive the rest",
        fix="give each input a partial derivative (None if the output does not depend on it),\n"
        "or declare the rule by from_vjp, which takes keywords too",
    )
