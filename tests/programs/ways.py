"""The same gradient by other ways: without fused expressions, by `vjp`, by the derived rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, NoFData, build_rrule, tangent, value_and_grad, vjp
from mooncake_py.boundary.survey import Survey, overlap
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.tangents import zero_coduals

__all__ = ["WAYS", "as_one", "gradient_of_memory"]

Result = tuple[Any, Any]
Way = Callable[[Callable[..., Any], tuple[int, ...], list[Any]], Result]
COTANGENT = 0.75


def as_one(
    f: Callable[..., Any], argnums: tuple[int, ...], arguments: Sequence[Any]
) -> tuple[Callable[[Any], Any], list[int]] | None:
    """Return a function of the tuple of some arguments, and which; None if none share memory.

    These are the active ones and all that share memory with one of them, so that the memory is
    one variable, as it is for the differences of values that gradients are compared with.
    """
    arrays = [Survey(a).arrays for a in arguments]

    def share(i: int, k: int) -> bool:
        return any(overlap(a, b) for a in arrays[i] for b in arrays[k])

    every = range(len(arguments))
    if not any(share(i, k) for i in argnums for k in every if k != i):
        return None
    packed = [i for i in every if i in argnums or any(share(i, k) for k in argnums)]
    others = [None if i in packed else a for i, a in enumerate(arguments)]

    def function(values: Any) -> Any:
        every = list(others)
        for i, value in zip(packed, values, strict=True):
            every[i] = value
        return f(*every)

    return function, packed


def gradient_of_memory(
    f: Callable[..., Any],
    argnums: tuple[int, ...],
    arguments: Sequence[Any],
    differentiate: Callable[..., Any] = value_and_grad,
) -> Result:
    """Return the value, and gradients in which memory that arguments share is one variable."""
    one = as_one(f, argnums, arguments)
    if one is None:
        return differentiate(f, argnums)(*arguments)
    function, packed = one
    value, (found,) = differentiate(function, (0,))(tuple([arguments[i] for i in packed]))
    return value, tuple(found[packed.index(i)] for i in argnums)


def unfused(f: Callable[..., Any], argnums: tuple[int, ...], arguments: list[Any]) -> Result:
    """Record operation by operation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReverseContext, "fuses", False)
        return gradient_of_memory(f, argnums, arguments)


def by_vjp(f: Callable[..., Any], argnums: tuple[int, ...], arguments: list[Any]) -> Result:
    """Pull a cotangent back."""
    one = as_one(f, tuple(range(len(arguments))), arguments)
    if one is None:
        value, pullback = vjp(f, *arguments)
        found: Any = pullback(COTANGENT)
    else:
        function, packed = one
        value, pullback = vjp(function, tuple([arguments[i] for i in packed]))
        found = dict(zip(packed, pullback(COTANGENT)[0], strict=True))
    return value, tuple(scaled(found[i], 1 / COTANGENT) for i in argnums)


def by_rule(f: Callable[..., Any], argnums: tuple[int, ...], arguments: list[Any]) -> Result:
    """Build the rule and call it with shadows of zeros."""
    coduals = zero_coduals(*arguments)
    out, pullback = build_rrule(f, *arguments)(CoDual(f, NoFData()), *coduals)
    _, *rdata = pullback(COTANGENT)
    parts = [tangent(coduals[i].fdata, rdata[i]) for i in argnums]
    return out.primal, tuple(scaled(t, 1 / COTANGENT) for t in parts)


def scaled(t: Any, factor: float) -> Any:
    """Return a gradient times a number."""
    if isinstance(t, dict):
        return {key: scaled(part, factor) for key, part in t.items()}
    if isinstance(t, list | tuple):
        return type(t)(scaled(part, factor) for part in t)
    return t * t.dtype.type(factor) if isinstance(t, np.ndarray) else t * factor


WAYS: dict[str, Way] = {"unfused": unfused, "by_vjp": by_vjp, "by_rule": by_rule}
