"""Wrappers of LAPACK that solve systems: what SciPy's own Python code calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.linalg import lapack

from mooncake_py.rules.declare import overlay, zero_derivative

__all__: list[str] = []

zero_derivative(sl.get_blas_funcs, sl.get_lapack_funcs, because="picks a function by dtypes")


@overlay(*(getattr(lapack, f"{kind}gesv") for kind in "sdcz"))
def gesv(a: Any, b: Any, overwrite_a: bool = False, overwrite_b: bool = False) -> Any:
    """Solve A X = B; a zero pivot is reported by its place."""
    lu, piv = sl.lu_factor(a, check_finite=False)
    zeros = np.flatnonzero(np.diagonal(lu) == 0)
    if len(zeros):
        return lu, piv, b, int(zeros[0]) + 1
    return lu, piv, sl.lu_solve((lu, piv), np.asarray(b), check_finite=False), 0


@overlay(*(getattr(lapack, f"{kind}gbsv") for kind in "sdcz"))
def gbsv(
    kl: int, ku: int, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False
) -> Any:
    """Solve for a band matrix, with `kl` rows above it that LAPACK fills.

    The factors, which would come first, are None: they have no derivative here.
    """
    try:
        x = sl.solve_banded((kl, ku), ab[kl:], b, check_finite=False)
    except np.linalg.LinAlgError:
        return None, None, b, 1
    return None, None, x, 0
