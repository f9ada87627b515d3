"""FITPACK: splines through data, on lines and on grids.

`splev` and the classes such as `UnivariateSpline` are Python around compiled functions, which
these replace.  Smoothing splines choose their knots one after the other, by a sum of squares that
is compared with `s`: what they return jumps, and is refused.

Here stands what both versions of FITPACK have in common; the modules `fitpack_fortran` and
`fitpack_port` have the functions whose names or arguments differ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.interpolate as si

from mooncake_py.integrations.scipy.interpolate.basis import evaluated, intervals, nonzero_basis
from mooncake_py.integrations.scipy.interpolate.compiled_fitpack import compiled
from mooncake_py.rules.declare import refused, zero_derivative
from mooncake_py.rules.plain_values import derived_as

__all__: list[str] = []

INVALID = 10
"""FITPACK's error code for arguments that it does not accept, no points for example."""


# Evaluation.


def evaluate(t: Any, c: Any, k: int, x: Any, ext: int, nu: int = 0) -> Any:
    """Return values and an error code; `ext` says what holds beyond the ends."""
    x, t = np.asarray(x), np.asarray(t, float)
    first, last = t[k], t[len(t) - k - 1]
    if not len(x):
        return x, INVALID
    inside = (x >= first) & (x <= last)
    if ext == 2 and not np.all(inside):
        return np.zeros(len(x)), 1
    if ext == 3:
        x = np.where(x < first, first, np.where(x > last, last, x))
    y = evaluated(t, np.asarray(c), k, x, nu)
    return np.where(inside, y, 0.0) if ext == 1 else y, 0


@derived_as(compiled.splev)
def splev(t: Any, c: Any, k: int, x: Any, e: int = 0) -> Any:
    return evaluate(t, c, k, x, e)


def integral(t: Any, c: Any, k: int, a: Any, b: Any) -> float:
    """Integrate, with zero beyond the ends."""
    t, n = np.asarray(t, float), len(t) - k - 1
    spline = si.BSpline.construct_fast(t, np.asarray(c)[:n], k, extrapolate=False)
    first, last = t[k], t[n]
    low, high = (min(max(end, first), last) for end in (a, b))
    antiderivative = spline.antiderivative()
    return float(antiderivative(high) - antiderivative(low))


# Splines through data.

zero_derivative(compiled.fpchec, because="checks knots")


def other_splrep(*args: Any) -> Any:
    """Return the result of `splrep` with the other options."""
    return plain_splrep(*args)


def refuse_smoothing(*functions: Any) -> None:
    """Refuse functions that choose knots."""
    refused(
        *functions,
        why="a smoothing spline chooses its knots one after the other: it jumps where one is added",
        fix="interpolate (s=0), or fix the knots (LSQUnivariateSpline, make_lsq_spline)",
    )


plain_splrep = si.splrep
refused(
    other_splrep,
    why="splrep has a rule for s=0 or given knots, with per=0, full_output=0 and task=0 or -1; a "
    "smoothing spline jumps where a knot is added",
    fix="make_interp_spline(x, y, bc_type='periodic') is periodic; make_lsq_spline smooths",
)
refused(
    compiled.sproot,
    why="how many zeros there are depends on the spline",
    fix="find the zero that you want with scipy.optimize.brentq",
)


def through(x: Any, y: Any, k: int, first: Any, last: Any) -> Any:
    """Return knots and coefficients of the spline through data, along the first axis."""
    t = np.array(plain_knots(x, k), float)
    t[: k + 1] = first
    t[len(t) - k - 1 :] = last
    return t, si.make_interp_spline(x, y, k, t, check_finite=False).c


def plain_knots(x: Any, k: int) -> Any:
    """Return the knots of FITPACK: points, or the middles between them."""
    between = x[1:-1] if k % 2 else (x[1:] + x[:-1]) / 2
    skipped = (k - 1) // 2 if k % 2 else k // 2
    inner = between[skipped : len(between) - skipped]
    return np.concatenate([np.repeat(x[:1], k + 1), inner, np.repeat(x[-1:], k + 1)])


def padded(c: Any, n: int) -> Any:
    """Return coefficients with zeros for as many as there are knots."""
    return np.concatenate([c, np.zeros(n - len(c))])


@derived_as(si.splrep)
def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0,
    s: Any = None, t: Any = None, full_output: int = 0, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    if s is None:
        s = 0.0 if w is None else len(x) - math.sqrt(2 * len(x))
    first, last = x[0] if xb is None else xb, x[-1] if xe is None else xe
    if per or full_output or task == 1 or (s != 0 and t is None):
        return other_splrep(x, y, w, xb, xe, k, task, s, t, full_output, per, quiet)
    if t is not None:
        knots, c = squares(x, y, w, k, np.asarray(t), first, last)
    else:
        knots, c = through(x, y, k, first, last)
    return knots, padded(c, len(knots)), k


def squares(x: Any, y: Any, w: Any, k: int, inner: Any, first: Any, last: Any) -> Any:
    """Return knots and coefficients of the spline of least squares with given inner knots."""
    ends = np.ones(k + 1)
    t = np.concatenate([first * ends, inner, last * ends])
    return t, si.make_lsq_spline(x, y, t, k, w).c


def squares_left(x: Any, y: Any, w: Any, t: Any, c: Any, k: int) -> float:
    """Return the weighted sum of squares of what a spline leaves of the data."""
    return float(np.sum((w * (y - evaluated(t, c, k, x))) ** 2))


# On grids.


def along(t: Any, k: int, x: Any, nu: int) -> Any:
    """Return which coefficients count at points, and how much; points beyond go to the ends."""
    x = np.atleast_1d(x)
    first, last = t[k], t[len(t) - k - 1]
    x = np.where(x < first, first, np.where(x > last, last, x))
    i = intervals(t, k, x)
    return i[:, None] + np.arange(-k, 1), nonzero_basis(t, k, x, i, nu)


def coefficients(tx: Any, ty: Any, c: Any, kx: int, ky: int) -> Any:
    """Return coefficients as a matrix."""
    shape = len(tx) - kx - 1, len(ty) - ky - 1
    return np.reshape(np.asarray(c)[: shape[0] * shape[1]], shape)


def error_code(kx: int, ky: int, nux: int, nuy: int, y: Any) -> int:
    """Return FITPACK's error code for orders of derivatives, some of which it does not know."""
    return 0 if 0 <= nux < kx and 0 <= nuy < ky and y.size else INVALID


@derived_as(compiled.parder)
def parder(tx: Any, ty: Any, c: Any, kx: int, ky: int, nux: int, nuy: int, x: Any, y: Any) -> Any:
    """Evaluate on the grid of two lines of points."""
    rows, a = along(tx, kx, x, nux)
    columns, b = along(ty, ky, y, nuy)
    near = coefficients(tx, ty, c, kx, ky)[rows[:, None, :, None], columns[None, :, None, :]]
    z = np.einsum("ip,jq,ijpq->ij", a, b, near)
    return z, error_code(kx, ky, nux, nuy, z)


@derived_as(compiled.pardeu)
def pardeu(tx: Any, ty: Any, c: Any, kx: int, ky: int, nux: int, nuy: int, x: Any, y: Any) -> Any:
    """Evaluate at points."""
    rows, a = along(tx, kx, x, nux)
    columns, b = along(ty, ky, y, nuy)
    near = coefficients(tx, ty, c, kx, ky)[rows[:, :, None], columns[:, None, :]]
    z = np.einsum("ip,iq,ipq->i", a, b, near)
    return z, error_code(kx, ky, nux, nuy, z)


@derived_as(compiled.bispev)
def bispev(tx: Any, ty: Any, c: Any, kx: int, ky: int, x: Any, y: Any) -> Any:
    return parder(tx, ty, c, kx, ky, 0, 0, x, y)


@derived_as(compiled.bispeu)
def bispeu(tx: Any, ty: Any, c: Any, kx: int, ky: int, x: Any, y: Any) -> Any:
    return pardeu(tx, ty, c, kx, ky, 0, 0, x, y)


def through_grid(
    x: Any, y: Any, z: Any, xb: Any, xe: Any, yb: Any, ye: Any, kx: int, ky: int
) -> Any:
    """Interpolate along one axis, and the coefficients along the other."""
    values = np.reshape(z, (len(x), len(y)))
    tx, c = through(x, values, kx, x[0] if xb is None else xb, x[-1] if xe is None else xe)
    ty, c = through(y, c.T, ky, y[0] if yb is None else yb, y[-1] if ye is None else ye)
    return tx, ty, np.ravel(c.T)
