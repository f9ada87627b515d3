"""Partial derivatives at operands of lower precision than the result: ``x / w``, w of float32.

NumPy converts the operands first.  A partial that does not, such as ``1 / w``, would be rounded to
the precision of w; and integers of few bits wrap around, as in ``-w`` and ``w * w``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.kinds import AtOnce, NotImplementedDerivative

__all__ = ["WIDE", "at_precision_of"]

WIDE = frozenset({float, int, np.float64, np.int64})
INT64 = np.dtype(np.int64)


def at_precision_of(y: Any, partials: Sequence[Any], operands: Sequence[Any]) -> Sequence[Any]:
    """Return partials that convert operands to the precision of the output, where they must."""
    for x in operands:
        if type(x) not in WIDE and getattr(x, "dtype", None) is not getattr(y, "dtype", None):
            real = np.finfo(getattr(y, "dtype", np.float64)).dtype
            if wider(x, real) is not None:
                named = type(y) is ndarray  # what a cotangent that is an array may be multiplied by
                return [p if _is_plain(p, named) else _converting(p, real) for p in partials]
    return partials


def wider(x: Any, real: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the dtype in which an operand should be read, or None for its own."""
    if not isinstance(x, ndarray | np.generic):
        return None
    kind, size = x.dtype.kind, x.dtype.itemsize
    if kind == "u" and size == INT64.itemsize:
        return real  # above 2**63 an int64 would be negative
    if kind in "biu":
        return INT64 if x.dtype != INT64 else None
    if kind == "c":
        return np.result_type(real, 1j) if size < 2 * real.itemsize else None
    return real if kind == "f" and size < real.itemsize else None


def _is_plain(partial: Any, named: bool) -> bool:
    """Return whether a partial can be used as it is, also if it is an operand (of a product)."""
    if not callable(partial) or isinstance(partial, AtOnce | NotImplementedDerivative):
        return True
    code = getattr(partial, "__code__", None)
    return named and code is not None and len(code.co_code) <= _shortest()


@lru_cache
def _shortest() -> int:
    return len((lambda a, b, y: b).__code__.co_code)


def _converting(partial: Any, real: np.dtype[Any]) -> Any:
    """Return a partial that converts its arguments."""

    def at_precision(*args: Any) -> Any:
        dtypes = [wider(x, real) for x in args]
        return partial(
            *[
                x if dtype is None else np.asarray(x, dtype)[()]
                for x, dtype in zip(args, dtypes, strict=True)
            ]
        )

    return at_precision
