"""Rules for the linear filters of `scipy.ndimage`: correlations, and what is written with them.

An output is a sum of elements of the input, extended beyond its borders, with the weights as
factors.  Where an extension takes its elements from does not depend on their values, so that
`scipy.ndimage` itself tells it, applied to positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.ndimage as nd
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, overlay
from mooncake_py.rules.inplace import written

__all__: list[str] = []


def positions(n: int, size: int, mode: str, origin: int) -> ndarray:
    """Return which element of a line each element of the extended line is, -1 for the constant."""
    extended = np.full(n + size - 1, -1, np.intp)
    if not n:  # SciPy reads beyond the ends
        return extended
    for k in range(size):
        unit = np.zeros(size)
        unit[k] = 1
        line: Any = nd.correlate1d(np.arange(float(n)), unit, mode=mode, cval=-1.0, origin=origin)
        extended[k : k + n] = np.rint(line)
    return extended


def extend(x: ndarray, places: Sequence[ndarray], cval: Any) -> ndarray:
    """Extend along each axis."""
    for axis, place in enumerate(places):
        x = np.take(x, place, axis)
        np.moveaxis(x, axis, 0)[place < 0] = cval
    return x


def fold(dx: ndarray, places: Sequence[ndarray], shape: tuple[int, ...]) -> ndarray:
    """Apply the adjoint of `extend`."""
    for axis, place in enumerate(places):
        n = shape[axis]
        lines = np.moveaxis(dx, axis, 0)
        start = next(k for k in range(len(place)) if np.array_equal(place[k : k + n], range(n)))
        folded = np.array(lines[start : start + n])
        beyond = place >= 0
        beyond[start : start + n] = False
        np.add.at(folded, place[beyond], lines[beyond])
        dx = np.moveaxis(folded, 0, axis)
    return dx


def cotangents(
    dy: ndarray, x: ndarray, weights: ndarray, mode: Any, cval: Any, origins: Any
) -> Any:
    """Return functions for the cotangents of `x`, of weights with the same axes, and of `cval`."""
    sizes, shape = weights.shape, x.shape
    if not x.size:
        return lambda: np.zeros(shape), lambda: np.zeros(weights.size), lambda: 0.0
    places = [
        positions(n, size, mode, origin)
        for n, size, origin in zip(shape, sizes, origins, strict=True)
    ]
    windows = [
        (index, tuple(slice(k, k + n) for k, n in zip(index, shape, strict=True)))
        for index in np.ndindex(*sizes)
    ]

    def of_extended() -> ndarray:
        dx = np.zeros([len(place) for place in places], np.result_type(dy, weights))
        for index, window in windows:
            dx[window] += conj(weights[index]) * dy
        return dx

    def of_weights() -> ndarray:
        extended = conj(extend(x, places, cval))
        return np.array([np.sum(extended[window] * dy) for _, window in windows])

    def of_constant() -> Any:
        inside = np.ix_(*(place >= 0 for place in places))
        dx = of_extended()
        dx[inside] = 0
        return np.sum(dx)

    return lambda: fold(of_extended(), places, shape), of_weights, of_constant


# Correlations with weights of as many axes, and along one axis.


def correlated(x: Any, weights: Any, mode: Any, cval: Any, origins: Any, dtype: Any) -> ndarray:
    """Sum elements times weights, without a conjugate."""
    return nd.correlate(x, conj(weights), dtype, mode, cval, origins)


@from_vjp(correlated)
def correlated_rule(x: Any, weights: Any, mode: Any, cval: Any, origins: Any, dtype: Any) -> Any:
    y = correlated(x, weights, mode, cval, origins, dtype)

    def pullback(dy: ndarray) -> tuple[Any, ...]:
        dx, dweights, dcval = cotangents(dy, x, weights, mode, cval, origins)
        return dx, lambda: dweights().reshape(weights.shape), None, dcval

    return y, pullback


def correlated_along(
    x: Any, weights: Any, axis: int, mode: Any, cval: Any, origin: int, dtype: Any
) -> ndarray:
    """Sum elements along an axis times weights, without a conjugate."""
    return nd.correlate1d(x, conj(weights), axis, dtype, mode, cval, origin)


@from_vjp(correlated_along)
def correlated_along_rule(
    x: Any, weights: Any, axis: int, mode: Any, cval: Any, origin: int, dtype: Any
) -> Any:
    y = correlated_along(x, weights, axis, mode, cval, origin, dtype)

    def pullback(dy: ndarray) -> tuple[Any, ...]:
        dx, dweights, dcval = along(dy, x, weights, axis, mode, cval, origin)
        return dx, dweights, None, None, dcval

    return y, pullback


def averaged_along(
    x: Any, size: int, axis: int, mode: Any, cval: Any, origin: int, dtype: Any
) -> ndarray:
    """Average elements along an axis."""
    return nd.uniform_filter1d(x, size, axis, dtype, mode, cval, origin)


@from_vjp(averaged_along)
def averaged_along_rule(
    x: Any, size: int, axis: int, mode: Any, cval: Any, origin: int, dtype: Any
) -> Any:
    y = averaged_along(x, size, axis, mode, cval, origin, dtype)
    weights = np.full(size, 1 / size, np.real(y).dtype)

    def pullback(dy: ndarray) -> tuple[Any, ...]:
        dx, _, dcval = along(dy, x, weights, axis, mode, cval, origin)
        return dx, None, None, None, dcval

    return y, pullback


def along(
    dy: ndarray, x: ndarray, weights: ndarray, axis: int, mode: Any, cval: Any, origin: int
) -> Any:
    """Return functions for the cotangents of `x`, of weights along one axis, and of `cval`."""
    shape = [1] * x.ndim
    shape[axis] = weights.size
    origins = [0] * x.ndim
    origins[axis] = origin
    return cotangents(dy, x, weights.reshape(shape), mode, cval, origins)


# The functions that users call; an output may be given.


def into(output: Any, compute: Any) -> Any:
    """Compute with the dtype that `output` asks for, and write there if it is an array."""
    if isinstance(output, ndarray):
        return written(output, compute(output.dtype))
    return compute(output)


def factors(weights: Any) -> Any:
    """Return weights as SciPy takes them: complex, or of doubles."""
    w = np.asarray(weights)
    return w if w.dtype.kind == "c" else np.asarray(w, np.float64)


def for_each_axis(origin: Any, ndim: int) -> list[int]:
    """Return a list with the origin along each axis, which may be given once for all."""
    return list(origin) if isinstance(origin, (list, tuple)) else [origin] * ndim


def refuse_axes(axes: Any) -> None:
    """Raise for filters along some axes only."""
    if axes is not None:
        raise MissingRuleError(
            "a correlation along some axes has no rule",
            why="only axes=None has",
            fix="give the weights an axis of length 1 for each of the other axes",
        )


@overlay(nd.correlate)
def correlate(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    refuse_axes(axes)
    x, w = np.asarray(input), np.conjugate(factors(weights))
    origins = for_each_axis(origin, x.ndim)
    return into(output, lambda dtype: correlated(x, w, mode, cval, origins, dtype))


@overlay(nd.convolve)
def convolve(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """Correlate with the weights reversed, which moves the middle of an even number of them."""
    refuse_axes(axes)
    x, w = np.asarray(input), np.flip(factors(weights))
    given = for_each_axis(origin, x.ndim)
    origins = [-o - (1 - n % 2) for o, n in zip(given, w.shape, strict=False)]
    return into(output, lambda dtype: correlated(x, w, mode, cval, origins, dtype))


@overlay(nd.correlate1d)
def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: int = 0,
) -> Any:  # fmt: skip
    x, w = np.asarray(input), np.conjugate(factors(weights))
    return into(output, lambda dtype: correlated_along(x, w, axis, mode, cval, origin, dtype))


@overlay(nd.uniform_filter1d)
def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: int = 0,
) -> Any:  # fmt: skip
    x = np.asarray(input)
    return into(output, lambda dtype: averaged_along(x, size, axis, mode, cval, origin, dtype))
