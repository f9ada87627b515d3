"""Clipping: cotangents with a bounded magnitude or norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy import ndarray

from mooncake_py.application.copying import copy_jointly
from mooncake_py.rules.declare import contextual
from mooncake_py.utilities.copies import plain_copy
from mooncake_py.utilities.hooks import hook

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["clip_gradient"]

T = TypeVar("T")


def clip_gradient(x: T, *, value: float | None = None, norm: float | None = None) -> T:
    """Return a copy of `x` whose cotangent is clipped.

    Parameters
    ----------
    x : object
        A number, an array, or lists, dicts, tuples and objects of these.
    value : float, optional
        The bound for the magnitude of each number; larger numbers get this magnitude.
    norm : float, optional
        The bound for the Euclidean norm of all numbers in `x` together; if the norm is larger, all
        are scaled down.  Infinite numbers keep their share of the norm.  Pass either `norm` or
        `value`.

    Returns
    -------
    object
        A copy, in new memory, as with :func:`hook`.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import clip_gradient, grad
    >>> x = np.array([1.0, 3.0, 4.0])
    >>> grad(lambda x: np.sum(clip_gradient(x, value=3.0) ** 2))(x)
    array([2., 3., 3.])
    >>> grad(lambda x: np.sum(clip_gradient(x[1:], norm=1.0) ** 2))(x)
    array([0. , 0.6, 0.8])
    """
    clipper(value, norm)
    return plain_copy(x)


@contextual(clip_gradient)
def clip_gradient_inside(
    ctx: Language, x: T, *, value: float | None = None, norm: float | None = None
) -> T:
    """Clip the cotangent with a hook, inside a derivative."""
    return ctx.call(hook, clipper(value, norm), x)


def clipper(value: float | None, norm: float | None) -> Callable[[Any], Any]:
    """Return the function that clips a cotangent."""
    clip, bound = (by_norm, norm) if value is None else (by_value, value)
    if bound is None or (value is not None and norm is not None):
        raise TypeError("clip_gradient takes either value=... or norm=...")
    if not bound >= 0:  # also nan
        raise ValueError(f"the bound of clip_gradient must not be negative: {bound}")
    return lambda g: clip(g, bound)


def by_value(g: Any, bound: float) -> Any:
    """Return a cotangent with the magnitude of each number bounded."""

    def clip(leaf: Any) -> Any:
        if not np.iscomplexobj(leaf):
            return np.clip(leaf, -bound, bound)
        size = np.abs(leaf)
        with np.errstate(all="ignore"):
            return np.where(size > bound, leaf * (bound / size), leaf)

    return mapped(clip, g)


def by_norm(g: Any, bound: float) -> Any:
    """Return a cotangent with the norm of all its numbers together bounded."""
    size = norm_of(g)
    if math.isinf(size):
        g = mapped(infinite_part, g)
        size = norm_of(g)
    elif not size > bound:
        return g
    return mapped(lambda leaf: leaf * (bound / size), g)


def norm_of(g: Any) -> float:
    """Return the norm of all numbers in a cotangent together."""
    sizes: list[float] = []

    def measure(leaf: Any) -> Any:
        sizes.append(float(np.linalg.norm(leaf)))
        return leaf

    mapped(measure, g)
    return math.hypot(*sizes)


def infinite_part(leaf: Any) -> Any:
    """Return the limit of an array divided by its norm, as its infinite elements grow equally."""
    if np.iscomplexobj(leaf):
        return infinite_part(leaf.real) + 1j * infinite_part(leaf.imag)
    return np.where(np.isinf(leaf), np.sign(leaf), leaf * 0)


def mapped(f: Callable[[Any], Any], g: Any) -> Any:
    """Return a cotangent of any structure with each of its arrays and numbers mapped."""

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, (ndarray, float, complex, np.inexact)):
            return leaf
        new = f(leaf)
        return new if issubclass(type(leaf), ndarray) else type(leaf)(new)

    return copy_jointly(g, convert, keep_views=False)
