"""Arrays of other packages in place of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.survey import Survey
from mooncake_py.modules import package_of

__all__ = ["foreign_array", "held_foreign_array", "to_numpy"]

PACKAGES = frozenset({
    "cupy", "dask", "jax", "jaxlib", "mlx", "pandas", "polars", "pyarrow", "sparse", "tensorflow",
    "torch", "xarray",
})  # fmt: skip
PROTOCOLS = ("__array__", "__array_interface__", "to_numpy")


def foreign_array(value: Any) -> bool:
    """Return whether a value is an array, a table or a column of another package."""
    t = type(value)
    return package_of(t) in PACKAGES and is_array_like(value)


def is_array_like(value: Any) -> bool:
    """Return whether NumPy can make an array of a value that is none."""
    if isinstance(value, (ndarray, np.generic, type)):
        return False
    return any(hasattr(type(value), name) for name in PROTOCOLS)


def held_foreign_array(value: Any) -> Any:
    """Return an array-like value that is or is held by a value without floats, or None."""
    if is_array_like(value):
        return value
    holders = Survey(value).holders.values()
    return next((part for part, _ in holders if is_array_like(part)), None)


def to_numpy(value: Any, name: str) -> str:
    """Return how to make a NumPy array of a value of this name."""
    if package_of(type(value)) == "torch":
        return f"{name}.detach().numpy()"
    return f"{name}.to_numpy()" if hasattr(value, "to_numpy") else f"np.asarray({name})"
