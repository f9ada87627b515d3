"""A product of arrays and the frame of a rule for it, to be filled with what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.tangents import CoDual, NoRData, increment, zero_codual

RNG = np.random.default_rng(20240502)
A = RNG.standard_normal((3, 4))
B = RNG.standard_normal((3, 4))

ONLY_BASE: dict[str, Any] = {"layouts": False, "dtypes": False, "aliasing": False}

Expect = Callable[..., str]
Pull = Callable[[CoDual, CoDual, CoDual, Any], tuple[Any, ...]]
NONE = NoRData()


def multiply(a, b):
    return a * b


def product_rule(pull: Pull) -> Any:
    """Make a rule for `multiply` from what its pullback does."""

    def rule(_, a, b):
        y = zero_codual(a.primal * b.primal)
        return y, lambda dy: pull(a, b, y, dy)

    return rule


def right(a: CoDual, b: CoDual, y: CoDual, dy: Any) -> tuple[Any, ...]:
    g = y.fdata.copy()
    increment(a, g * b.primal)
    increment(b, g * a.primal)
    return NONE, NONE, NONE
