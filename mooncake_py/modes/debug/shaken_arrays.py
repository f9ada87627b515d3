"""Arrays of cotangents or tangents with errors in all that is computed with them.

They tell how large the terms are that derivatives are sums of: where large ones cancel, errors
change the sum by far more than its share.  This is Monte Carlo arithmetic, as in `shaken`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["SPREAD", "ShakenArray", "factors"]

SPREAD = 2.0**-14  # how far at most a factor is from one: errors grow from pass to pass


class ShakenArray(ndarray):
    """An array for which each operation, and each look at an element, makes errors.

    Views are such arrays too.  Results are plain ones, since code asks for this very type.
    """

    random: np.random.Generator

    def __array_finalize__(self, other: Any) -> None:
        if type(other) is ShakenArray:
            self.random = other.random

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return found if issubclass(type(found), ndarray) else self.shaken(float(found))

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any
    ) -> Any:
        if out:
            options["out"] = tuple(map(bare, out))
        y = getattr(ufunc, method)(*map(bare, inputs), **options)
        if not out:
            return self.shaken(y)
        y *= factors(self.random, y.shape)
        return out[0]

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        y = super().__array_function__(f, types, args, kwargs)
        is_view = type(y) is ShakenArray and np.may_share_memory(bare(y), bare(self))
        return y if is_view else self.shaken(bare(y))

    def dot(self, b: Any, /, out: Any = None) -> Any:
        """Return a product."""
        return self.shaken(bare(self).dot(bare(b), bare(out)))

    def shaken(self, y: Any) -> Any:
        """Return a result with errors, if it is of floats."""
        is_float = type(y) is float or getattr(y, "dtype", None) == np.float64
        return y * factors(self.random, np.shape(y)) if is_float else y


def bare(v: Any) -> Any:
    """Return an array without errors."""
    return v.view(ndarray) if type(v) is ShakenArray else v


def factors(random: np.random.Generator, shape: tuple[int, ...] = ()) -> Any:
    """Return random factors: a float, or an array."""
    return random.uniform(1.0 - SPREAD, 1.0 + SPREAD, shape or None)
