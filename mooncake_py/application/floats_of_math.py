"""The functions of `math` compute with floats, whatever numbers they are given.

They take the real part of a complex number of NumPy, with its warning, and single precision as it
is; so do their rules, which see the floats only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.rules.kinds import ElementwiseRule, Rule, VjpRule
from mooncake_py.runtime.active import Active, primal_of
from mooncake_py.runtime.values import is_of_math

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["on_floats"]


def on_floats(rule: Rule, apply: Handler) -> Handler:
    """Return the handler of a rule, which for a function of `math` is applied to floats."""
    if type(rule) not in (ElementwiseRule, VjpRule) or not any(map(is_of_math, rule.functions)):
        return apply

    def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        if any(map(is_converted, args)):
            args = tuple([ctx.call(float, a) if is_converted(a) else a for a in args])
        return apply(ctx, f, args, kwargs)

    return run


def is_converted(value: Any) -> bool:
    """Return whether a number or an array of one is another kind of number than a float.

    Integers stay: some functions take these only.
    """
    while type(value) is Active:
        value = primal_of(value)
    t = type(value)
    if t is ndarray:
        return value.ndim == 0 and value.dtype.kind == "f"
    return not isinstance(value, float) and hasattr(t, "__float__") and not hasattr(t, "__index__")
