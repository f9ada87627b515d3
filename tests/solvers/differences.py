"""Derivatives along a direction, by differences; programs of which only some are quick to check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

__all__ = ["along", "slow_but"]

WEIGHTS = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}


def along(f: Callable[[Any], Any], a: Any, v: Any, h: float = 1e-3) -> Any:
    """Return the derivative along a direction, by a central difference of fourth order."""
    return sum(w * f(a + k * h * v) for k, w in WEIGHTS.items()) / h


def slow_but(quick: Iterable[str], names: Iterable[str]) -> list[Any]:
    """Return the names as parameters of a test that is slow, except for some of them."""
    chosen = set(quick)
    return [n if n in chosen else pytest.param(n, marks=pytest.mark.slow) for n in names]
