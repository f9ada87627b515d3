"""Compiled parts of `RegularGridInterpolator` and `NdBSpline`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import scipy.interpolate as si
import scipy.interpolate._bsplines as line
import scipy.interpolate._rgi as plain
from numpy import ndarray

from mooncake_py.integrations.scipy.interpolate.basis import intervals, nonzero_basis
from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.plain_values import derived_as, derived_as_writer

__all__: list[str] = []

nd: Any = getattr(si, "_ndbspline", None)


@overlay(plain._ndim_coords_from_arrays)
def coordinates(points: Any, ndim: Any = None) -> Any:
    """Return points with their coordinates along the last axis."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*[np.asarray(p, float) for p in points]), axis=-1)
    points = np.asarray(points)
    return points.reshape(-1, 1 if ndim is None else ndim) if points.ndim == 1 else points


def cells(grid: ndarray, x: ndarray) -> ndarray:
    """Return the number of the cell of each point; -1 on a line with one point."""
    if len(grid) == 1:
        return np.full(len(x), -1)
    return np.clip(np.searchsorted(grid, x, side="right") - 1, 0, len(grid) - 2)


zero_derivative(cells, because="returns indices")


@derived_as(plain.find_indices)
def find_indices(grid: Any, xi: Any) -> Any:
    """Return the cells of points, and where in the cell they are, from 0 to 1."""
    indices, distances = [], []
    for points, x in zip(grid, xi, strict=True):
        i = cells(points, x)
        width = points[i + 1] - points[i]
        indices.append(i)
        distances.append((x - points[i]) / np.where(width == 0, np.inf, width))
    return np.array(indices), np.array(distances)


@derived_as_writer(plain.evaluate_linear_2d, 4)
def evaluate_linear_2d(values: Any, indices: Any, distances: Any, grid: Any, out: Any) -> Any:
    """Weigh the corners of cells."""
    total = 0.0
    for corner in product((0, 1), repeat=2):
        weight = 1.0
        for y, side in zip(distances, corner, strict=True):
            weight = weight * (y if side else 1 - y)
        total = total + values[indices[0] + corner[0], indices[1] + corner[1]] * weight
    out[...] = total
    return out


# Tensor products of splines.


def evaluate_tensor_product(
    x: Any, t: Any, lengths: Any, k: Any, nu: Any, extrapolate: bool, c: Any, count: int,
    strides: Any, places: Any,
) -> Any:  # fmt: skip
    """Evaluate at points, with coefficients in one line; nan beyond without extrapolation."""
    n, ndim = x.shape
    inside, flat, factors = ~np.isnan(x).any(axis=1), np.zeros([n] + [1] * ndim, np.intp), []
    for axis in range(ndim):
        degree, knots = int(k[axis]), t[axis][: lengths[axis]]
        first, last = knots[degree], knots[len(knots) - degree - 1]
        if not extrapolate:
            inside = inside & (x[:, axis] >= first) & (x[:, axis] <= last)
    for axis in range(ndim):
        degree, knots = int(k[axis]), t[axis][: lengths[axis]]
        along = np.where(inside, x[:, axis], knots[degree])
        i = intervals(knots, degree, along)
        used = (i[:, None] + np.arange(-degree, 1)) * strides[axis]
        flat = flat + used.reshape([n] + [-1 if m == axis else 1 for m in range(ndim)])
        factors.append(nonzero_basis(knots, degree, along, i, int(nu[axis])))
    near = c[flat[..., None] + np.arange(count)]
    for weights in factors:
        near = np.einsum("ip...,ip->i...", near, weights)
    return np.where(inside[:, None], near, np.nan)


def exact_coefficients(points: Any, values: Any, k: Any) -> Any:
    """Interpolate along one axis after the other."""
    c = values
    for axis, x in enumerate(points):
        c = si.make_interp_spline(x, c, k[axis], axis=axis).c
        c = np.moveaxis(c, 0, axis)
    return c


def error_of_solver(c: ndarray, points: Any, values: Any, k: Any, solver: Any, options: Any) -> Any:
    """Return the error that SciPy's solver, which is iterative by default, leaves."""
    return plain_make_ndbspl(points, values, k, solver=solver, **options).c - c


zero_derivative(error_of_solver, because="held: the derivative is that of the equation")

if nd is not None and hasattr(nd, "make_ndbspl"):
    plain_make_ndbspl = nd.make_ndbspl
    derived_as(nd._dierckx.evaluate_ndbspline)(evaluate_tensor_product)

    @overlay(plain_make_ndbspl)
    def make_ndbspl(
        points: Any, values: Any, k: Any = 3, *, solver: Any = nd.ssl.gcrotmk, **options: Any
    ) -> Any:
        """Interpolate with not-a-knot conditions, and add what the solver has done wrong."""
        degrees = (k,) * len(points) if isinstance(k, int) else tuple(k)
        c = exact_coefficients(points, values, degrees)
        c = c + error_of_solver(c, points, values, k, solver, options)
        grids = [np.asarray(x, float) for x in points]
        t = tuple(knots(x, degree) for x, degree in zip(grids, degrees, strict=True))
        return nd.NdBSpline(t, c, k)


def knots(x: Any, k: int) -> Any:
    """Return the knots of the spline through data at `x`."""
    return line._not_a_knot(x, k)
