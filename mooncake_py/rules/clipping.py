"""Rules for `clip`: ``clip(x, low, high)`` is ``minimum(maximum(x, low), high)``, also at ties."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules.declare import elementwise, overlay
from mooncake_py.rules.no_value import NoValue
from mooncake_py.rules.piecewise import weight_above

__all__: list[str] = []


def clip_weights(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the shares of `x` in ``maximum(x, low)`` and of that in the minimum with `high`."""
    raised = x if low is None else np.maximum(x, low)
    of_low = 1 if low is None else weight_above(x, low)
    return of_low, 1 if high is None else weight_above(high, raised)


def clip_partial(x: Any, low: Any, high: Any, y: Any) -> Any:
    """Return 1 between the bounds, 1/2 on them, 0 outside."""
    above_low, below_high = clip_weights(x, low, high)
    return above_low * below_high


def clip_low_partial(x: Any, low: Any, high: Any, y: Any) -> Any:
    """Return 1 where the lower bound is the result."""
    above_low, below_high = clip_weights(x, low, high)
    return (1 - above_low) * below_high


def clip_high_partial(x: Any, low: Any, high: Any, y: Any) -> Any:
    """Return 1 where the upper bound is the result."""
    return 1 - clip_weights(x, low, high)[1]


def clip_between(x: Any, low: Any, high: Any, **options: Any) -> Any:
    """Clip, with all three arguments in their places."""
    return np.clip(x, low, high, **options)


elementwise(clip_between, clip_partial, clip_low_partial, clip_high_partial)

# Overlays that bring the ways of calling it into that form.


@overlay(np.ndarray.clip)
def clip_method(a: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """Clip, the bounds given by position or by name."""
    if out is not None:
        options["out"] = out
    return clip_between(a, min, max, **options)


@overlay(np.clip)
def clip(
    a: Any,
    a_min: Any = NoValue,
    a_max: Any = NoValue,
    out: Any = None,
    *,
    min: Any = NoValue,
    max: Any = NoValue,
    **options: Any,
) -> Any:
    """Clip, the bounds given by either of their names; a single one of the old names is refused."""
    if a_min is NoValue and a_max is NoValue:
        a_min = None if min is NoValue else min
        a_max = None if max is NoValue else max
    elif a_min is NoValue or a_max is NoValue:
        missing = "a_min" if a_min is NoValue else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: {missing!r}")
    elif min is not NoValue or max is not NoValue:
        raise ValueError(
            "Passing `min` or `max` keyword argument when "
            "`a_min` and `a_max` are provided is forbidden."
        )
    if out is not None:
        options["out"] = out
    return clip_between(a, a_min, a_max, **options)
