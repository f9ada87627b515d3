"""Rules for `clip`: ``clip(x, low, high)`` is ``minimum(maximum(x, low), high)``, also at ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy._core import umath

from mooncake_py.rules.declare import elementwise, overlay
from mooncake_py.rules.kinds import AtOnce
from mooncake_py.rules.no_value import NoValue
from mooncake_py.rules.piecewise import weight_above

__all__ = ["CLIP", "clip_between"]


@overlay(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Return the correlations; those of 1 and -1 are extremes, no kinks of the clipping."""
    c = np.cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviations = np.sqrt(np.real(np.diag(c)))
    c = c / deviations[:, None] / deviations[None, :]
    if np.iscomplexobj(c):
        return within_bounds(c.real) + 1j * within_bounds(c.imag)
    return within_bounds(c)


def within_bounds(c: Any) -> Any:
    """Return numbers from -1 to 1 without what rounding adds to them."""
    return np.clip(c, -1, 1)


elementwise(within_bounds, 1)


def raised(x: Any, low: Any) -> Any:
    """Return ``maximum(x, low)``, or `x` without a lower bound."""
    return x if low is None else np.maximum(x, low)


def share_below(x: Any, low: Any, high: Any) -> Any:
    """Return the share of the raised value in the minimum with `high`."""
    return True if high is None else weight_above(high, raised(x, low))


def clip_partial(x: Any, low: Any, high: Any, y: Any) -> Any:
    """Return 1 between the bounds, 1/2 on them, 0 outside."""
    return share_below(x, low, high) * (True if low is None else weight_above(x, low))


def clip_low_partial(x: Any, low: Any, high: Any, y: Any) -> Any:
    """Return 1 where the lower bound is the result."""
    return share_below(x, low, high) * weight_above(low, x)


def clip_high_partial(x: Any, low: Any, high: Any, y: Any) -> Any:
    """Return 1 where the upper bound is the result."""
    return weight_above(raised(x, low), high)


def clip_between(x: Any, low: Any, high: Any, **options: Any) -> Any:
    """Clip, with all three arguments in their places."""
    return np.clip(x, low, high, **options)


elementwise(clip_between, AtOnce(clip_partial), AtOnce(clip_low_partial), AtOnce(clip_high_partial))

CLIP: Any = getattr(umath, "clip")  # noqa: B009 - NumPy has no public name for it

# Overlays that bring the ways of calling it into that form.


@overlay(np.ndarray.clip)
def clip_method(a: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """Clip, the bounds given by position or by name."""
    return clip_into(a, min, max, out, **options)


@overlay(CLIP)
def clip_ufunc(a: Any, low: Any, high: Any, out: Any = None, **options: Any) -> Any:
    """Clip, by the ufunc that NumPy hands to ``__array_ufunc__``."""
    return clip_into(a, low, high, out[0] if type(out) is tuple else out, **options)


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
    return clip_into(a, a_min, a_max, out, **options)


def clip_into(a: Any, low: Any, high: Any, out: Any, **options: Any) -> Any:
    """Clip, all arguments in their places, into an output if there is one."""
    if "dtype" in options or "casting" in options:
        return clip_converted(a, low, high, out, **options)
    if out is not None:
        options["out"] = out
    return clip_between(a, low, high, **options)


def clip_converted(
    a: Any,
    low: Any,
    high: Any,
    out: Any,
    dtype: Any = None,
    casting: Any = "same_kind",
    **rest: Any,
) -> Any:
    """Clip operands that are converted first, or a result that is converted for its output."""
    np.copyto(np.empty(0), np.empty(0), casting=casting)  # raises if there is no such rule
    if dtype is not None:
        a, low, high = [
            v if v is None else np.asarray(v).astype(dtype, casting=casting) for v in (a, low, high)
        ]
    out = out[0] if isinstance(out, tuple) else out
    if out is None:
        return clip_between(a, low, high, **rest)
    where = rest.pop("where", True)
    np.copyto(out, clip_between(a, low, high, **rest), casting=casting, where=where)
    return out
