"""Numbers of regions that are interpreted: as in machine code nothing raises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT

__all__ = [
    "MAKES", "UNSAFE", "WRONG", "Left", "converted", "grown_array", "whole", "without_errors",
]  # fmt: skip

MAKES: dict[str, Any] = {FLOAT: float, FLOAT32: np.float32, BOOL: bool}
WRONG = ValueError, OverflowError, ZeroDivisionError
OF_NUMPY: dict[Any, Any] = {
    getattr(math, name): getattr(np, own)
    for name, own in (
        ("exp", "exp"), ("expm1", "expm1"), ("log", "log"), ("log2", "log2"), ("log10", "log10"),
        ("log1p", "log1p"), ("sqrt", "sqrt"), ("sin", "sin"), ("cos", "cos"), ("tan", "tan"),
        ("asin", "arcsin"), ("acos", "arccos"), ("sinh", "sinh"), ("cosh", "cosh"),
        ("acosh", "arccosh"), ("atanh", "arctanh"), ("fmod", "fmod"), ("hypot", "hypot"),
    )
}  # fmt: skip
"""Functions that give infinities and nan where those of `math` raise."""


class Left(Exception):
    """A check failed: the region was left."""


def converted(value: Any, kind: str) -> Any:
    """Return a number as one of a kind."""
    return whole(value) if kind == INT else MAKES[kind](value)


def whole(value: Any) -> int:
    """Return a number as an int, of any value where there is none."""
    try:
        return int(value)
    except (ValueError, OverflowError):
        return -(2**63)


def grown_array(a: np.ndarray, least: int) -> np.ndarray:
    """Return an array with room for so many numbers, or twice as many, that begins like one."""
    more = np.empty(max(least, 2 * a.size), a.dtype)
    more[: a.size] = a
    return more


def without_errors(f: Any, given: list[Any]) -> Any:
    """Return the result of a function where it raises: infinities and nan."""
    own = OF_NUMPY.get(f)
    if own is not None:
        return own(*map(np.float64, given))
    if f is helpers.over:
        d, p = map(np.float64, given)
        return np.divide(d, p)
    if getattr(f, "__module__", "") in ("math", helpers.__name__):
        return math.nan
    raise Left


def quotient(a: Any, b: Any) -> Any:
    """Return ``a / b``."""
    try:
        return a / b
    except ZeroDivisionError:
        return float(np.divide(np.float64(a), np.float64(b)))


def power(a: Any, b: Any) -> Any:
    """Return ``a ** b``."""
    if type(a) is np.float32 or (type(a) is int and b >= 0):
        return a**b
    if type(a) is int:  # other numbers are cut off
        return a ** (b & 1) if abs(a) == 1 else 0
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError):
        return float(np.power(np.float64(a), np.float64(b)))


def floored(a: Any, b: Any) -> Any:
    """Return ``a // b``, of ints zero where `b` is."""
    if type(a) is int:
        return a // b if b else 0
    try:
        return a // b
    except ZeroDivisionError:
        return float(np.floor_divide(np.float64(a), np.float64(b)))


def rest(a: Any, b: Any) -> Any:
    """Return ``a % b``, of ints zero where `b` is."""
    if type(a) is int:
        return a % b if b else 0
    try:
        return a % b
    except ZeroDivisionError:
        return math.nan


UNSAFE: dict[str, Callable[[Any, Any], Any]] = {
    "truediv": quotient, "pow": power, "floordiv": floored, "mod": rest,
}  # fmt: skip
"""Operators that raise in Python."""
