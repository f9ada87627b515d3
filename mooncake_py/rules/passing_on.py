"""Functions that pass on each element, up to what changes in steps only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__: list[str] = []


def is_unwrapped(p, discont=None, axis=-1, *, period=2 * np.pi) -> bool:
    """Return whether the jumps that are taken out of an array depend on no more than it."""
    return are_floats(p)


def unwrap_jvp(tangents, y, p, discont=None, axis=-1, *, period=0.0) -> ndarray:
    return np.array(tangents[0], y.dtype)


@shortcut(np.unwrap, accepts=is_unwrapped, jvp=unwrap_jvp, wrt=(0,))
def unwrap_rule(p, discont=None, axis=-1, *, period=2 * np.pi) -> tuple[ndarray, Any]:
    return np.unwrap(p, discont, axis, period=period), lambda dy: dy


def is_copied(x, copy=True, nan=0.0, posinf=None, neginf=None) -> bool:
    """Return whether the result is new memory; all numbers are finite, and none is replaced."""
    return are_floats(x) and copy is True and x.ndim > 0


def nan_to_num_jvp(tangents, y, x, copy=True, nan=0.0, posinf=None, neginf=None) -> ndarray:
    return np.array(tangents[0], y.dtype)


@shortcut(np.nan_to_num, accepts=is_copied, jvp=nan_to_num_jvp, wrt=(0,))
def nan_to_num_rule(x, copy=True, nan=0.0, posinf=None, neginf=None) -> tuple[ndarray, Any]:
    return np.nan_to_num(x, copy, nan, posinf, neginf), lambda dy: dy
