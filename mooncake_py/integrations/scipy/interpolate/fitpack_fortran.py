"""FITPACK in Fortran, SciPy up to 1.17: the functions that its port to C has not."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.integrations.scipy.interpolate.compiled_fitpack import compiled
from mooncake_py.integrations.scipy.interpolate.fitpack import (
    evaluate,
    integral,
    padded,
    refuse_smoothing,
    squares,
    squares_left,
    through,
    through_grid,
)
from mooncake_py.rules.declare import overlay
from mooncake_py.rules.plain_values import derived_as, plain_result, same_values

__all__: list[str] = []


@derived_as(compiled.splder)
def splder(t: Any, c: Any, k: int, x: Any, nu: int = 1, e: int = 0) -> Any:
    return evaluate(t, c, k, x, e, nu)


@derived_as(compiled.splint)
def splint(t: Any, c: Any, k: int, a: Any, b: Any) -> Any:
    """Integrate; the weights that FITPACK returns too are None."""
    return integral(t, c, k, a, b), None


def smoothing_spline(x: Any, y: Any, k: int, w: Any, xb: Any, xe: Any, s: Any) -> Any:
    """Return the record of a spline that need not go through the data."""
    return compiled.fpcurf0(x, y, k, w=w, xb=xb, xe=xe, s=s)


def smoothing_on_grid(*args: Any) -> Any:
    """Return the record of a smoothing spline on a grid."""
    return compiled.regrid_smth(*args)


refuse_smoothing(
    smoothing_spline, smoothing_on_grid,
    compiled.fpcurf1, compiled.percur, compiled.surfit_smth, compiled.surfit_lsq,
    compiled.spherfit_smth, compiled.spherfit_lsq, compiled.regrid_smth_spher,
)  # fmt: skip


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
    left = squares_left(x, y, w, t, c, k) if s else 0.0
    t, c = same_values(t, plain[8][:n]), same_values(padded(c, n), plain[9][:n])
    left = same_values(left, plain[10])
    nothing = np.zeros(n)
    counts = np.zeros(n, np.int32)
    return x, y, w, first, last, k, s, n, t, c, left, nothing, counts, code


@overlay(compiled.regrid_smth)
def regrid_smth(
    x: Any, y: Any, z: Any, xb: Any = None, xe: Any = None, yb: Any = None, ye: Any = None,
    kx: int = 3, ky: int = 3, s: Any = 0.0, maxit: int = 20,
) -> Any:  # fmt: skip
    """Make what `RectBivariateSpline` keeps."""
    if s != 0:
        return smoothing_on_grid(x, y, z, xb, xe, yb, ye, kx, ky, s, maxit)
    tx, ty, c = through_grid(x, y, z, xb, xe, yb, ye, kx, ky)
    plain = plain_result(compiled.regrid_smth, (x, y, z, xb, xe, yb, ye, kx, ky, s, maxit), {})
    nx, ny = len(tx), len(ty)
    tx, ty = same_values(tx, plain[1][:nx]), same_values(ty, plain[3][:ny])
    c = same_values(c, plain[4][: c.size])
    return nx, tx, ny, ty, c, 0.0, -1
