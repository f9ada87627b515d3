"""The same gradient by other ways: without fused expressions, by `vjp`, by the derived rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, NoFData, build_rrule, tangent, value_and_grad, vjp
from mooncake_py.derive.recording.reverse import ReverseContext
from mooncake_py.tangents import zero_coduals

__all__ = ["WAYS"]

Result = tuple[Any, Any]
Way = Callable[[Callable[..., Any], tuple[int, ...], list[Any]], Result]
COTANGENT = 0.75


def unfused(f: Callable[..., Any], argnums: tuple[int, ...], arguments: list[Any]) -> Result:
    """Record operation by operation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReverseContext, "fuses", False)
        return value_and_grad(f, argnums)(*arguments)


def by_vjp(f: Callable[..., Any], argnums: tuple[int, ...], arguments: list[Any]) -> Result:
    """Pull a cotangent back."""
    value, pullback = vjp(f, *arguments)
    found = pullback(COTANGENT)
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
