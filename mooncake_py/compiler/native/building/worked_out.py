"""Which functions compiled code can call, with their derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.declared import partials_of
from mooncake_py.compiler.derivatives.trace import Untraceable, trace
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import Number, Unfit, Value
from mooncake_py.compiler.regions.ir import Const, Name

__all__ = ["is_of_numpy", "require_known", "require_worked_out"]


def require_known(b: Builder, f: Any, values: Sequence[Value]) -> None:
    """Refuse a function that compiled code cannot call, or whose partial derivative calls one."""
    if (f, len(values)) in UNKNOWN:
        raise Unfit(f"{f.__name__}, which compiled code does not support", b.place)


UNKNOWN = frozenset({
    (math.cbrt, 1), (math.gamma, 1), (math.lgamma, 1), (math.ldexp, 2),
    (math.log, 2), (math.remainder, 2), (np.float_power, 2), (np.fmax, 2), (np.fmin, 2),
})  # fmt: skip


def is_of_numpy(f: Any) -> bool:
    """Return True for a ufunc of NumPy: others, as those of SciPy, are not compiled."""
    return type(f) is np.ufunc and getattr(np, f.__name__, None) is f


def require_worked_out(b: Builder, f: Any, values: Sequence[Value]) -> None:
    """Raise for a function without a compiled derivative, unless its arguments are constant."""
    for k, v in enumerate(values):
        is_constant = isinstance(v, Number) and isinstance(v.e, Const)
        if not is_constant and not is_worked_out(f, k):
            raise Unfit(f"{f.__name__}, whose derivative compiled code does not support", b.place)


@cache
def is_worked_out(f: Any, k: int) -> bool:
    """Return True if a partial derivative of a function is arithmetic on its arguments."""
    p = (partials_of(f, f.nin) or (None,) * f.nin)[k]
    if type(p) is not FunctionType:
        return p is not None
    try:
        trace(p, [*[Name(f"a{n}") for n in range(f.nin)], Name("y")])
    except Untraceable:
        return False
    return True
