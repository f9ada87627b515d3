"""Rules for sets of values: unique; the functions for sets are derived in terms of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import Result
from mooncake_py.rules.declare import from_vjp

__all__: list[str] = []


@from_vjp(np.unique)
def unique_rule(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, **options: Any
) -> Result:
    """Return distinct values; of equal elements the first one has the derivative."""
    a = np.asanyarray(ar)
    y = np.unique(a, return_index, return_inverse, return_counts, axis, **options)
    if axis is not None:  # NumPy returns a view of structured rows
        y = (y[0].copy("K"), *y[1:]) if isinstance(y, tuple) else y.copy("K")

    def unique_pullback(dy):
        dvalues, values = (dy[0], y[0]) if isinstance(y, tuple) else (dy, y)
        equal_nan = options.get("equal_nan", True)
        flat, k = (a.reshape(-1), 0) if axis is None else (a, axis)
        ordered, first = np.unique(flat, return_index=True, axis=axis, equal_nan=equal_nan)
        if axis is None and not options.get("sorted", True):
            first = first[positions_in(ordered, values)]
        da = np.zeros(flat.shape, dvalues.dtype)
        np.moveaxis(da, k, 0)[first] = np.moveaxis(dvalues, k, 0)
        return da.reshape(a.shape)

    return y, unique_pullback


def positions_in(ordered: ndarray, values: ndarray) -> ndarray:
    """Return where the values stand among the same values in order."""
    positions = np.empty(len(values), np.intp)
    positions[np.argsort(values, kind="stable")] = np.arange(len(ordered))
    return positions
