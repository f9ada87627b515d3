"""B-splines that are not zero at given points, by the recursion of Cox and de Boor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import zero_derivative

__all__ = ["evaluated", "intervals", "nonzero_basis"]


def intervals(t: ndarray, k: int, x: ndarray) -> ndarray:
    """Return i with t[i] <= x < t[i + 1]; the first and the last interval reach beyond the ends."""
    return np.clip(np.searchsorted(t, x, side="right") - 1, k, len(t) - k - 2)


zero_derivative(intervals, because="returns indices")


def nonzero_basis(t: Any, k: int, x: Any, i: ndarray, nu: int = 0) -> Any:
    """Return the derivatives of order `nu` of B-splines i - k, ..., i, one row for each point.

    From degree d - 1 to d:  B[j, d] = (x - t[j]) w[j] + (t[j + d + 1] - x) w[j + 1]  with
    w[j] = B[j, d - 1] / (t[j + d] - t[j]),  and  dB[j, d]/dx = d (w[j] - w[j + 1]).
    """
    x = x[:, None]
    values = np.ones((len(i), 1)) if nu <= k else np.zeros((len(i), 1))
    none = np.zeros((len(i), 1))
    for degree in range(1, k + 1):
        places = i[:, None] + np.arange(1 - degree, 1)
        lower, upper = t[places], t[places + degree]
        width = upper - lower
        w = values / np.where(width == 0, np.inf, width)
        if degree > k - nu:
            left, right = degree * w, -degree * w
        else:
            left, right = (x - lower) * w, (upper - x) * w
        values = np.concatenate([none, left], axis=1) + np.concatenate([right, none], axis=1)
    return values


def evaluated(t: Any, c: Any, k: int, x: Any, nu: int = 0) -> Any:
    """Return the derivative of order `nu` at points in one line; `c` may have more axes."""
    i = intervals(t, k, x)
    terms = c[i[:, None] + np.arange(-k, 1)]
    return np.einsum("ij,ij...->i...", nonzero_basis(t, k, x, i, nu), terms)
