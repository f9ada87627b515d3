"""Partial derivatives at operands of lower precision than the result: ``x / w``, w of float32.

NumPy converts the operands first.  A partial that does not, such as ``1 / w``, would be rounded to
the precision of w; and integers of few bits wrap around, as in ``-w`` and ``w * w``.  Of real
operands with ``dtype=complex`` a partial such as ``x ** (p - 1)`` would be nan where x is negative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.kinds import AtOnce, ElementwiseRule, NotImplementedDerivative

__all__ = ["WIDE", "at_precision_of"]

WIDE = frozenset({float, int, np.float64, np.int64})
FLOAT64 = np.dtype(np.float64)
INT64 = np.dtype(np.int64)


def at_precision_of(
    y: Any, rule: ElementwiseRule, partials: Sequence[Any], operands: Sequence[Any]
) -> Sequence[Any]:
    """Return partials that convert operands to the precision of the output, where they must."""
    dtype = getattr(y, "dtype", None)
    is_complex = dtype is not FLOAT64 and dtype is not None and dtype.kind == "c"
    if is_complex and not any(map(_is_complex, operands)) and _has_real_loop(rule.functions[0]):
        return _converted(partials, y, lambda x: None if x is None else dtype)
    for x in operands:
        if type(x) not in WIDE and getattr(x, "dtype", None) is not dtype:
            real = np.finfo(np.float64 if dtype is None else dtype).dtype
            if wider(x, real) is not None:
                return _converted(partials, y, functools.partial(wider, real=real))
    return partials


def _has_real_loop(f: Any) -> bool:
    """Return whether real operands have complex results only by a `dtype`."""
    return type(f) is np.ufunc and any(not set(types) & set("FDGO") for types in f.types)


def _is_complex(x: Any) -> bool:
    """Return whether an operand is complex."""
    if isinstance(x, ndarray):
        return x.dtype.kind == "c"
    return isinstance(x, complex | np.complexfloating)


def _converted(partials: Sequence[Any], y: Any, dtype_of: Callable[[Any], Any]) -> list[Any]:
    """Return partials that read their arguments in other dtypes; None stands for their own."""
    named = type(y) is ndarray  # what a cotangent that is an array may be multiplied by
    return [p if _is_plain(p, named) else _converting(p, dtype_of) for p in partials]


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


@functools.lru_cache
def _shortest() -> int:
    return len((lambda a, b, y: b).__code__.co_code)


def _converting(partial: Any, dtype_of: Callable[[Any], Any]) -> Any:
    """Return a partial that converts its arguments."""

    def at_precision(*args: Any) -> Any:
        dtypes = [dtype_of(x) for x in args]
        return partial(
            *[
                x if dtype is None else np.asarray(x, dtype)[()]
                for x, dtype in zip(args, dtypes, strict=True)
            ]
        )

    return at_precision
