"""The public names of NumPy, by the module or the class that has them."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)

__all__ = ["SECTIONS", "members"]

SECTIONS: dict[str, Any] = {
    "numpy": np,
    "numpy.ndarray": np.ndarray,
    "numpy.ufunc": np.ufunc,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.emath": np.emath,
    "numpy.lib.stride_tricks": np.lib.stride_tricks,
    "numpy.polynomial": np.polynomial,
    **{
        f"numpy.polynomial.{module.__name__.rpartition('.')[2]}": module
        for module in (
            polynomial, chebyshev, legendre, laguerre, hermite, hermite_e, polyutils,
        )
    },
    "numpy.random": np.random,
    "numpy.random.Generator": np.random.Generator,
    "numpy.random.RandomState": np.random.RandomState,
}  # fmt: skip


def members(owner: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public names of a module or a class, in order, with what they mean."""
    names = getattr(owner, "__all__", None) or [n for n in dir(owner) if not n.startswith("_")]
    for name in sorted(n for n in names if not n.startswith("_") or n.endswith("__")):
        found = getattr(owner, name)
        if not isinstance(found, ModuleType) or owner is np:
            yield name, of_generator(owner, name, found)


def of_generator(owner: Any, name: str, found: Any) -> Any:
    """Return the method behind a function of the old random generator that all code shares."""
    if owner is np.random and isinstance(getattr(found, "__self__", None), np.random.RandomState):
        return getattr(np.random.RandomState, name)
    return found
