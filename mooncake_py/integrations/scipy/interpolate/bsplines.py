"""Compiled parts of `BSpline`, `make_interp_spline` and `make_lsq_spline`.

The public functions are Python around them, which is derived; the module of the parts is SciPy's
own and has these functions since SciPy 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate._bsplines as plain
import scipy.linalg as sl

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.interpolate.basis import evaluated, intervals, nonzero_basis
from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.plain_values import (
    derived_as,
    derived_as_writer,
    plain_result,
    same_values,
)

__all__: list[str] = []

compiled: Any = getattr(plain, "_dierckx", None)
plain_squares: Any = getattr(plain, "_lsq_solve_qr", None)


def evaluate_spline(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """Evaluate at points in one line; nan beyond the ends without extrapolation."""
    inside = ~np.isnan(x) if extrapolate else (x >= t[k]) & (x <= t[len(t) - k - 1])
    y = evaluated(t, c, k, np.where(inside, x, t[k]), nu)
    return np.where(inside[:, None], y, np.nan)


def evaluate_all(t: Any, k: int, x: float, i: int, nu: int = 0) -> Any:
    """Evaluate the B-splines that are not zero in interval `i`."""
    return nonzero_basis(t, k, np.array([x]), np.array([i]), nu)[0]


def fill_collocation(x: Any, t: Any, k: int, ab: Any, offset: int) -> None:
    """Fill rows of a band matrix, here transposed, with the values of the B-splines at `x`."""
    i = intervals(t, k, x)
    columns = i[:, None] + np.arange(-k, 1)
    rows = offset + np.arange(len(x))[:, None]
    ab[columns, 2 * k + rows - columns] = nonzero_basis(t, k, x, i)


def fill_normal_equations(x: Any, t: Any, k: int, y: Any, w: Any, ab: Any, right: Any) -> None:
    """Add up the lower half of a band matrix, here transposed, and the right-hand sides."""
    rows, first, _ = data_matrix(x, t, k, w)
    weighted = y * w[:, None]
    for a in range(k + 1):
        for b in range(a + 1):
            np.add.at(ab, (first + b, a - b), rows[:, a] * rows[:, b])
        np.add.at(right, first + a, rows[:, a, None] * weighted)


def data_matrix(x: Any, t: Any, k: int, w: Any, extrapolate: bool = False) -> Any:
    """Return the B-splines that are not zero at `x`, the first of each row, and how many."""
    i = intervals(t, k, x)
    return nonzero_basis(t, k, x, i) * w[:, None], i - k, len(t) - k - 1


def solve_least_squares(x: Any, y: Any, t: Any, k: int, w: Any, periodic: bool = False) -> Any:
    """Solve the normal equations, and refine the solution once.

    Returns the same as SciPy's function, whose caller uses the third item.
    """
    if periodic:
        raise MissingRuleError(
            "periodic splines of least squares have no rule",
            why="there is one for splines with free ends",
            fix="interpolate, with bc_type='periodic'",
        )
    rows, first, n = data_matrix(x, t, k, w)
    columns = first[:, None] + np.arange(k + 1)
    weighted = y * w[:, None]
    ab = np.zeros((n, k + 1))
    right = np.zeros((n, y.shape[1]))
    fill_normal_equations(x, t, k, y, w, ab, right)
    c = sl.solveh_banded(ab.T, right, lower=True)
    residuals = weighted - np.einsum("ij,ijm->im", rows, c[columns])
    again = np.zeros_like(right)
    np.add.at(again, columns, rows[:, :, None] * residuals[:, None, :])
    c = np.ascontiguousarray(c + sl.solveh_banded(ab.T, again, lower=True))
    c = same_values(c, plain_result(plain_squares, (x, y, t, k, w), {})[2])
    return rows, weighted, c, np.sum(residuals**2), residuals


if hasattr(compiled, "evaluate_spline"):
    derived_as(compiled.evaluate_spline)(evaluate_spline)
    derived_as(compiled.evaluate_all_bspl)(evaluate_all)
    derived_as_writer(compiled._coloc, 3)(fill_collocation)
    derived_as(compiled.data_matrix)(data_matrix)
    derived_as_writer(compiled._norm_eq_lsq, 5, 6)(fill_normal_equations)
    overlay(plain_squares)(solve_least_squares)
    zero_derivative(compiled.find_interval, because="returns an index")
