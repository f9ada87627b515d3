"""Fitting a cotangent to the shape and dtype of the argument it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import DerivativeDropError, InvalidTangentError

__all__ = ["fit", "fit_to_parts", "unbroadcast"]


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes that broadcasting added or stretched.

    Parameters
    ----------
    g : ndarray
        Cotangent of the broadcast result.
    shape : tuple of int
        Shape of the argument, broadcastable to ``g.shape``.

    Returns
    -------
    ndarray
        Of shape `shape`; `g` itself if nothing was broadcast, otherwise a new array.

    Raises
    ------
    InvalidTangentError
        If `shape` does not broadcast to the shape of `g`.
    """
    full = g.shape
    if full == shape:
        return g
    added = len(full) - len(shape)
    if added < 0:
        raise misfit(full, shape)
    axes = list(range(added))
    for axis, n in enumerate(shape, added):
        if n != full[axis]:
            if n != 1:
                raise misfit(full, shape)
            axes.append(axis)
    summed = np.add.reduce(g, axis=tuple(axes))
    return summed.reshape(shape) if type(summed) is ndarray else np.full(shape, summed)


def misfit(full: tuple[int, ...], shape: tuple[int, ...]) -> InvalidTangentError:
    """Return the error for a cotangent that does not belong to its argument."""
    return InvalidTangentError(
        f"a cotangent of shape {full} does not fit an argument of shape {shape}",
        why="a rule returned a cotangent of another shape than its argument",
        fix="run test_rule on the rule",
    )


def fit(g: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ndarray:
    """Return a cotangent with the shape and dtype of its argument (`g` itself if it has them)."""
    if type(g) is not ndarray:
        g = np.asarray(g)
    if g.dtype.kind == "c" and dtype.kind != "c":
        g = np.real(g)
    if g.shape != shape:
        g = fit_to_parts(g, shape)
    if g.dtype != dtype:
        if dtype.kind in "biuSUT":
            raise bytes_of_floats(dtype)
        g = g.astype(dtype)
    return g


def fit_to_parts(g: Any, shape: tuple[int, ...]) -> Any:
    """Return the cotangent of an array in the shape of the nested sequence that it was made of.

    Broadcasting adds axes on the left, where sequences are taken apart.
    """
    if g.shape == shape:
        return g
    return g.reshape(shape) if g.size == 1 == _count(shape) else unbroadcast(g, shape)


def bytes_of_floats(dtype: np.dtype[Any]) -> DerivativeDropError:
    """Return the error for a cotangent of an array that is not an array of floats."""
    return DerivativeDropError(
        f"an array of dtype {dtype} has got a cotangent",
        why="it lends its memory to active floats, and was computed with: the bytes of a number "
        "are not a smooth\nfunction of it",
        fix="convert the values: a.astype(dtype)",
    )


def _count(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size
