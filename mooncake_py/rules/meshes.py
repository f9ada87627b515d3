"""Rules for functions of places on axes: grids, powers of places, polynomials at places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import Result
from mooncake_py.rules.sequences import distribute
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__: list[str] = []


# Grids.


def meshes(*xi, copy=True, sparse=False, indexing="xy") -> bool:
    """Return whether the places of each axis are repeated in new memory."""
    return (
        len(xi) > 1
        and copy is True
        and sparse is False
        and indexing in ("xy", "ij")
        and are_floats(*xi)
        and all(x.ndim == 1 for x in xi)
    )


def axis_of(i: int, indexing: str) -> int:
    """Return the axis of a grid along which the places of one axis change."""
    return 1 - i if i < 2 and indexing == "xy" else i


def meshgrid_jvp(tangents, y, *xi, copy=True, sparse=False, indexing: Any = "xy") -> Any:
    moved = [np.zeros_like(x) if t is None else t for t, x in zip(tangents, xi, strict=True)]
    return np.meshgrid(*moved, indexing=indexing)


@shortcut(np.meshgrid, accepts=meshes, jvp=meshgrid_jvp)
def meshgrid_rule(*xi, copy=True, sparse=False, indexing: Any = "xy") -> Result:
    def meshgrid_pullback(dy):
        sums = []
        for i, g in enumerate(dy):
            axis = axis_of(i, indexing)
            rest = tuple([k for k in range(len(xi)) if k != axis])
            sums.append(None if g is None else np.sum(g, rest))
        return tuple(sums)

    return np.meshgrid(*xi, indexing=indexing), meshgrid_pullback


# Powers of places.


def has_powers(x, N=None, increasing=False) -> bool:
    """Return whether these are the powers of places on an axis."""
    return are_floats(x) and x.ndim == 1 and x.size > 0 and type(increasing) is bool


def slopes(y: ndarray, increasing: bool) -> ndarray:
    """Return the derivatives of all powers but the constant, the lowest first."""
    rising = y if increasing else y[:, ::-1]
    return rising[:, :-1] * np.arange(1, y.shape[1], dtype=y.dtype)


def vander_jvp(tangents, y, x, N=None, increasing=False) -> Any:
    t = np.zeros_like(y)
    (t if increasing else t[:, ::-1])[:, 1:] = slopes(y, increasing) * tangents[0][:, None]
    return t


@shortcut(np.vander, accepts=has_powers, jvp=vander_jvp, wrt=(0,))
def vander_rule(x, N=None, increasing=False) -> Result:
    y = np.vander(x, N, increasing)

    def vander_pullback(dy):
        rising = dy if increasing else dy[:, ::-1]
        return np.sum(rising[:, 1:] * slopes(y, increasing), axis=1)

    return y, vander_pullback


# Values of polynomials.


def are_values(p, x) -> bool:
    """Return whether coefficients and places are numbers or arrays of floats."""
    if type(p) is ndarray:
        if not are_floats(p) or p.ndim != 1:
            return False
    elif type(p) not in (list, tuple) or not all(type(c) in NUMBERS for c in p):
        return False
    return len(p) > 0 and (are_floats(x) or type(x) in (float, np.float64))


NUMBERS = frozenset({float, int, np.float64})


def slope_at(p: Any, x: Any) -> Any:
    """Return the derivative of a polynomial at places."""
    p = np.asarray(p)
    n = len(p) - 1
    slope: Any = 0.0
    for k in range(n):
        slope = slope * x + (n - k) * p[k]
    return slope


def polyval_jvp(tangents, y, p, x) -> Any:
    dp, dx = tangents
    total = 0.0 if dp is None else np.polyval(dp, x)
    return total if dx is None else total + slope_at(p, x) * dx


@shortcut(np.polyval, accepts=are_values, jvp=polyval_jvp)
def polyval_rule(p, x) -> Result:
    y = np.polyval(p, x)

    def polyval_pullback(dy):
        def of_coefficients() -> Any:
            n = len(p)
            sums, g = np.zeros(n, np.result_type(dy, x)), dy
            for k in range(n - 1, -1, -1):
                sums[k] = np.sum(g)
                g = g * x
            return distribute(sums, p)

        return of_coefficients, lambda: dy * slope_at(p, x)

    return y, polyval_pullback
