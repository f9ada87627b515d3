"""FITPACK's port to C, SciPy 1.18 and newer: the functions that Fortran has otherwise."""

from __future__ import annotations

from typing import Any

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
def splder(t: Any, c: Any, k: int, nu: int, x: Any, e: int) -> Any:
    return evaluate(t, c, k, x, e, nu)


@derived_as(compiled.splint)
def splint(t: Any, c: Any, k: int, a: Any, b: Any) -> float:
    return integral(t, c, k, a, b)


def smoothing_spline(*args: Any) -> Any:
    """Return the result of `curfit` for a spline that need not go through the data."""
    return compiled.curfit(*args)


def smoothing_on_grid(*args: Any) -> Any:
    """Return the result of `regrid` for a smoothing spline on a grid."""
    return compiled.regrid(*args)


refuse_smoothing(
    smoothing_spline, smoothing_on_grid,
    compiled.percur, compiled.parcur, compiled.surfit, compiled.surfit_smth, compiled.surfit_lsq,
    compiled.sphere, compiled.spgrid,
)  # fmt: skip


@overlay(compiled.curfit)
def curfit(
    iopt: int, x: Any, y: Any, w: Any, xb: Any, xe: Any, k: int, s: Any, t: Any, wrk: Any,
    iwrk: Any,
) -> Any:  # fmt: skip
    """Fit with the knots `t` if `iopt` is -1, go through the data if it is 0 and `s` too.

    Knots are written to `t`, which is returned.  Other memory is for FITPACK to work in.
    """
    if iopt == 1 or (iopt == 0 and s != 0):
        return smoothing_spline(iopt, x, y, w, xb, xe, k, s, t, wrk, iwrk)
    copies = t.copy(), wrk.copy(), iwrk.copy()
    plain = plain_result(compiled.curfit, (iopt, x, y, w, xb, xe, k, s, *copies), {})
    n, plain_t, plain_c, plain_left, code = plain
    if code > 0:  # refused by FITPACK
        return plain
    k = int(k)
    if iopt == 0:
        knots, c = through(x, y, k, xb, xe)
        left = plain_left
    else:
        knots, c = squares(x, y, w, k, t[k + 1 : len(t) - k - 1], xb, xe)
        left = same_values(squares_left(x, y, w, knots, c, k), plain_left)
    t[:n] = same_values(knots, plain_t[:n])
    return n, t, same_values(padded(c, len(plain_c)), plain_c), left, code


@overlay(compiled.regrid)
def regrid(
    iopt: int, x: Any, y: Any, z: Any, xb: Any, xe: Any, yb: Any, ye: Any, kx: int, ky: int,
    s: Any, nxest: int, nyest: int, maxit: int, wrk: Any, iwrk: Any,
) -> Any:  # fmt: skip
    """Go through the data if `iopt` and `s` are 0."""
    args = x, y, z, xb, xe, yb, ye, kx, ky, s, nxest, nyest, maxit
    if iopt != 0 or s != 0:
        return smoothing_on_grid(iopt, *args, wrk, iwrk)
    plain = plain_result(compiled.regrid, (iopt, *args, wrk.copy(), iwrk.copy()), {})
    nx, plain_tx, ny, plain_ty, plain_c, left, code = plain
    if code > 0:  # refused by FITPACK
        return plain
    tx, ty, c = through_grid(x, y, z, xb, xe, yb, ye, kx, ky)
    tx = same_values(padded(tx, len(plain_tx)), plain_tx)
    ty = same_values(padded(ty, len(plain_ty)), plain_ty)
    return nx, tx, ny, ty, same_values(padded(c, len(plain_c)), plain_c), left, code
