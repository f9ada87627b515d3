"""How wrappers of BLAS and LAPACK take arrays: cast to their kind, overwritten where permitted."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import overlay
from mooncake_py.rules.plain_values import plain_result, same_values

__all__ = ["KINDS", "each_kind", "is_in_place", "returned"]

KINDS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def each_kind(module: Any, name: str, kinds: str = "sdcz") -> Callable[[Any], Any]:
    """Replace a wrapper of every kind by what is made for its dtype."""

    def declare(made_for: Callable[[Any], Any]) -> Any:
        for kind in kinds:
            wrapper = getattr(module, kind + name)
            overlay(wrapper)(with_values_of_wrapper(wrapper, made_for(KINDS[kind])))
        return made_for

    return declare


def with_values_of_wrapper(wrapper: Any, replacement: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement with the values of the wrapper, which overwrites nothing for them."""
    names = tuple(inspect.signature(replacement).parameters)

    def run(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        kept = {name: v for name, v in given.items() if not name.startswith("overwrite_")}
        plain = plain_result(wrapper, (), kept)
        found = replacement(**given)
        if not isinstance(found, tuple):
            return in_its_place(found, plain, given)
        return tuple([in_its_place(f, p, given) for f, p in zip(found, plain, strict=True)])

    return run


def in_its_place(found: Any, plain: Any, given: dict[str, Any]) -> Any:
    """Return a result with plain values, in the argument that it has overwritten if it has."""
    if not any(found is argument for argument in given.values()):
        return same_values(found, plain)
    if isinstance(found, ndarray):
        found[...] = same_values(found.copy(), plain)
    return found


def is_in_place(array: Any, overwrite: Any, dtype: Any) -> bool:
    """Return True if a wrapper that may overwrite an array works in it, not in a copy."""
    return (
        bool(overwrite)
        and isinstance(array, ndarray)
        and array.dtype == dtype
        and array.flags.f_contiguous
    )


def returned(result: Any, array: Any, overwrite: Any, dtype: Any) -> Any:
    """Return a result, in the array that the wrapper overwrites if it does."""
    if not is_in_place(array, overwrite, dtype):
        return result
    array[...] = result
    return array
