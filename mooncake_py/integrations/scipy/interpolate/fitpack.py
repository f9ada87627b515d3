"""FITPACK: splines through data, on lines and on grids.

`splev` and the classes such as `UnivariateSpline` are Python around compiled functions, which
these replace.  Smoothing splines choose their knots one after the other, by a sum of squares that
is compared with `s`: what they return jumps, and is refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.interpolate as si
import scipy.interpolate._fitpack_impl as plain

from mooncake_py.integrations.scipy.interpolate.basis import evaluated, intervals, nonzero_basis
from mooncake_py.rules.declare import overlay, refused, zero_derivative
from mooncake_py.rules.plain_values import derived_as, plain_result, same_values

__all__: list[str] = []

compiled: Any = plain.dfitpack
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


@derived_as(compiled.splder)
def splder(t: Any, c: Any, k: int, x: Any, nu: int = 1, e: int = 0) -> Any:
    return evaluate(t, c, k, x, e, nu)


@derived_as(compiled.splint)
def splint(t: Any, c: Any, k: int, a: Any, b: Any) -> Any:
    """Integrate, with zero beyond the ends; the weights that FITPACK returns too are None."""
    t, n = np.asarray(t, float), len(t) - k - 1
    spline = si.BSpline.construct_fast(t, np.asarray(c)[:n], k, extrapolate=False)
    first, last = t[k], t[n]
    low, high = (min(max(end, first), last) for end in (a, b))
    antiderivative = spline.antiderivative()
    return float(antiderivative(high) - antiderivative(low)), None


# Splines through data.

zero_derivative(compiled.fpchec, because="checks knots")


def smoothing_spline(x: Any, y: Any, k: int, w: Any, xb: Any, xe: Any, s: Any) -> Any:
    """Return the record of a spline that need not go through the data."""
    return compiled.fpcurf0(x, y, k, w=w, xb=xb, xe=xe, s=s)


def other_splrep(*args: Any) -> Any:
    """Return the result of `splrep` with the other options."""
    return plain_splrep(*args)


def smoothing_on_grid(*args: Any) -> Any:
    """Return the record of a smoothing spline on a grid."""
    return compiled.regrid_smth(*args)


plain_splrep = si.splrep
refused(
    smoothing_spline, smoothing_on_grid,
    compiled.fpcurf1, compiled.percur, compiled.surfit_smth, compiled.surfit_lsq,
    compiled.spherfit_smth, compiled.spherfit_lsq, compiled.regrid_smth_spher,
    why="a smoothing spline chooses its knots one after the other: it jumps where one is added",
    fix="interpolate (s=0), or fix the knots (LSQUnivariateSpline, make_lsq_spline)",
)  # fmt: skip
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


@overlay(compiled.fpcurf0)
def fpcurf0(
    x: Any, y: Any, k: int, w: Any = None, xb: Any = None, xe: Any = None, s: Any = None,
    nest: Any = None,
) -> Any:  # fmt: skip
    """Make what `UnivariateSpline` keeps; -1 says that the spline goes through the data."""
    k = int(k)  # FITPACK takes numbers of any kind
    if s != 0:
        return smoothing_spline(x, y, k, w, xb, xe, s)
    first, last = x[0] if xb is None else xb, x[-1] if xe is None else xe
    t, c = through(x, y, k, first, last)
    plain = plain_result(compiled.fpcurf0, (x, y, k), {"w": w, "xb": xb, "xe": xe, "s": s})
    return kept(x, y, w, first, last, k, 0.0, t, c, -1, plain)


@overlay(compiled.fpcurfm1)
def fpcurfm1(
    x: Any, y: Any, k: int, t: Any, w: Any = None, xb: Any = None, xe: Any = None,
    overwrite_t: int = 1,
) -> Any:  # fmt: skip
    """Make what `LSQUnivariateSpline` keeps."""
    k = int(k)
    first, last = x[0] if xb is None else xb, x[-1] if xe is None else xe
    inner = np.asarray(t)[k + 1 : len(t) - k - 1]
    code = -2 if len(inner) == 0 else 0
    options = {"w": w, "xb": xb, "xe": xe, "overwrite_t": 0}
    plain = plain_result(compiled.fpcurfm1, (x, y, k, t), options)
    t, c = squares(x, y, w, k, inner, first, last)
    return kept(x, y, w, first, last, k, -1.0, t, c, code, plain)


def kept(
    x: Any, y: Any, w: Any, first: Any, last: Any, k: int, s: float, t: Any, c: Any, code: int,
    plain: Any,
) -> Any:  # fmt: skip
    """Return the record of FITPACK, with the sum of squares of what is left.

    Knots, coefficients and the sum have the values of the `plain` record.
    """
    w = np.ones(len(x)) if w is None else w
    n = len(t)
    left = float(np.sum((w * (y - evaluated(t, c, k, x))) ** 2)) if s else 0.0
    t, c = same_values(t, plain[8][:n]), same_values(padded(c, n), plain[9][:n])
    left = same_values(left, plain[10])
    nothing = np.zeros(n)
    counts = np.zeros(n, np.int32)
    return x, y, w, first, last, k, s, n, t, c, left, nothing, counts, code


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


@overlay(compiled.regrid_smth)
def regrid_smth(
    x: Any, y: Any, z: Any, xb: Any = None, xe: Any = None, yb: Any = None, ye: Any = None,
    kx: int = 3, ky: int = 3, s: Any = 0.0, maxit: int = 20,
) -> Any:  # fmt: skip
    """Interpolate along one axis, and the coefficients along the other."""
    if s != 0:
        return smoothing_on_grid(x, y, z, xb, xe, yb, ye, kx, ky, s, maxit)
    values = np.reshape(z, (len(x), len(y)))
    tx, c = through(x, values, kx, x[0] if xb is None else xb, x[-1] if xe is None else xe)
    ty, c = through(y, c.T, ky, y[0] if yb is None else yb, y[-1] if ye is None else ye)
    plain = plain_result(compiled.regrid_smth, (x, y, z, xb, xe, yb, ye, kx, ky, s, maxit), {})
    nx, ny = len(tx), len(ty)
    tx, ty = same_values(tx, plain[1][:nx]), same_values(ty, plain[3][:ny])
    c = same_values(np.ravel(c.T), plain[4][: c.size])
    return nx, tx, ny, ty, c, 0.0, -1
