"""Images between their elements: splines, evaluated at coordinates or on a stretched grid.

An output is a sum of the coefficients near its coordinates, with the B-splines as weights; these
are functions of the coordinates, and are derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.interpolate.basis import nonzero_basis
from mooncake_py.integrations.scipy.ndimage.borders import (
    CONSTANT,
    GRID_CONSTANT,
    compiled,
    folded,
    spline_mode,
)
from mooncake_py.rules.declare import linear, zero_derivative
from mooncake_py.rules.kinds import Like
from mooncake_py.rules.plain_values import derived_as_writer

__all__ = ["write"]

# Coefficients.


def coefficients(x: ndarray, order: int, axis: int, mode: int) -> ndarray:
    """Return the coefficients of the splines through the lines along an axis."""
    c = np.empty(x.shape)
    compiled.spline_filter1d(x, order, axis, c, mode)
    return c


ENDS = 64  # how far the ends are felt: poles of at most 0.431 to this power are below rounding


@linear(coefficients)
def coefficients_adjoint(dc: ndarray, x: Like, order: int, axis: int, mode: int) -> ndarray:
    """Apply the filter, which is symmetric, and correct its asymmetry near the ends."""
    dx = np.moveaxis(coefficients(dc, order, axis, mode), axis, 0)
    lines, n = np.moveaxis(dc, axis, 0), x.shape[axis]
    short = coefficients(np.eye(min(n, 2 * ENDS)), order, 0, mode)
    skew = short.T - short
    if n <= 2 * ENDS:
        dx += np.tensordot(skew, lines, 1)
    else:
        dx[:ENDS] += np.tensordot(skew[:ENDS, :ENDS], lines[:ENDS], 1)
        dx[-ENDS:] += np.tensordot(skew[-ENDS:, -ENDS:], lines[-ENDS:], 1)
    return np.moveaxis(dx, 0, axis)


@derived_as_writer(compiled.spline_filter1d, 3)
def spline_filter1d(x: Any, order: int, axis: int, output: Any, mode: int) -> None:
    write(output, coefficients(x, order, axis, mode))


# Values.


def first_coefficient(x: ndarray, order: int) -> ndarray:
    """Return the first of the coefficients that count at coordinates."""
    return np.floor(x if order % 2 else x + 0.5).astype(np.intp) - order // 2


def places_along(start: ndarray, order: int, n: int, mode: int) -> ndarray:
    """Return which coefficients count; -1 stands for the constant."""
    wanted = start[:, None] + np.arange(order + 1)
    if mode == GRID_CONSTANT:
        return np.where((wanted >= 0) & (wanted < n), wanted, -1)
    sign, shift = folded(wanted, n, spline_mode(mode))
    return np.clip(np.rint(sign * wanted + shift).astype(np.intp), 0, n - 1)


zero_derivative(first_coefficient, places_along, because="returns indices")


def weights_along(x: Any, start: ndarray, order: int) -> Any:
    """Return the values of the B-splines with knots at integers, or between them."""
    inside = x - start - (order // 2 if order % 2 else order // 2 - 0.5)
    interval = np.full(len(start), order, np.intp)
    return nonzero_basis(np.arange(-order, order + 2.0), order, inside, interval)


def along(x: Any, n: int, order: int, mode: int) -> Any:
    """Return coefficients, weights, and which coordinates are beyond the image."""
    sign, shift = folded(x, n, mode)
    mapped = sign * x + shift
    start = first_coefficient(mapped, order)
    beyond = (sign == 0) & (mode == CONSTANT)
    return places_along(start, order, n, mode), weights_along(mapped, start, order), beyond


def beyond_all(shape: Sequence[int], mode: int, cval: Any) -> Any:
    """Return values of an image without elements, all of which lie beyond it."""
    if mode != CONSTANT and 0 not in shape:
        raise MissingRuleError(
            "an image without elements has no values between them",
            why="in this mode SciPy reads memory beyond the image",
            fix='use mode="constant", or leave out empty images',
        )
    return np.full(shape, cval)


def at_points(c: Any, points: Any, order: int, mode: int, cval: Any) -> Any:
    """Evaluate at points, whose coordinates are the rows."""
    count, ndim = np.shape(points)[1], c.ndim
    if not c.size:
        return beyond_all([count], mode, cval)
    outside, absent = np.zeros(count, bool), np.zeros([count] + [order + 1] * ndim, bool)
    indices, factors = [], []
    for axis in range(ndim):
        places, weights, beyond = along(points[axis], c.shape[axis], order, mode)
        spread = places.reshape([count] + [order + 1 if k == axis else 1 for k in range(ndim)])
        indices.append(spread)
        factors.append(weights)
        outside, absent = outside | beyond, absent | (spread < 0)
    near = c[tuple(indices)]
    if mode == GRID_CONSTANT:
        near = np.where(absent, cval, near)
    for weights in factors:
        near = np.einsum("ip...,ip->i...", near, weights)
    return np.where(outside, cval, near) if mode == CONSTANT else near


def on_stretched_grid(c: Any, lines: Any, order: int, mode: int, cval: Any) -> Any:
    """Evaluate where lines of coordinates cross, along one axis after the other."""
    shape = [len(line) for line in lines]
    if not c.size:
        return beyond_all(shape, mode, cval)
    outside = np.zeros(shape, bool)
    for axis, line in enumerate(lines):
        places, weights, beyond = along(line, c.shape[axis], order, mode)
        near = np.moveaxis(c, axis, 0)[places]
        if mode == GRID_CONSTANT:
            near = np.where((places < 0).reshape(*places.shape, *[1] * (c.ndim - 1)), cval, near)
        c = np.moveaxis(np.einsum("ip...,ip->i...", near, weights), 0, axis)
        outside |= beyond.reshape([-1 if k == axis else 1 for k in range(c.ndim)])
    return np.where(outside, cval, c) if mode == CONSTANT else c


def write(output: Any, values: Any) -> None:
    """Write values; what an output of integers holds in the end, the compiled function tells."""
    with np.errstate(invalid="ignore"):
        output[...] = np.reshape(values, output.shape)


@derived_as_writer(compiled.geometric_transform, 5)
def geometric_transform(
    c: Any, mapping: Any, coordinates: Any, matrix: Any, offset: Any, output: Any, order: int,
    mode: int, cval: Any, npad: int, arguments: Any, options: Any,
) -> None:  # fmt: skip
    """Take coordinates from a function, an array, or a matrix and an offset."""
    if coordinates is not None:
        points = np.asarray(np.reshape(coordinates, (c.ndim, -1)), float)
    elif mapping is not None:
        points = np.array([
            mapping(place, *(arguments or ()), **(options or {}))
            for place in np.ndindex(output.shape)
        ], float).T  # fmt: skip
    else:
        grid = np.indices(output.shape).reshape(len(output.shape), -1)
        points = matrix @ grid + offset[:, None]
    write(output, at_points(c, points + npad, order, mode, cval))


@derived_as_writer(compiled.zoom_shift, 3)
def zoom_shift(
    c: Any, zoom: Any, shift: Any, output: Any, order: int, mode: int, cval: Any, npad: int,
    grid_mode: bool,
) -> None:  # fmt: skip
    """Take coordinates from a factor and a shift for each axis."""
    lines = []
    for axis, n in enumerate(output.shape):
        line = np.arange(float(n))
        if shift is not None:
            line = line + shift[axis]
        if zoom is not None:
            line = (line + 0.5) * zoom[axis] - 0.5 if grid_mode else line * zoom[axis]
        lines.append(line + npad)
    write(output, on_stretched_grid(c, lines, order, mode, cval))
