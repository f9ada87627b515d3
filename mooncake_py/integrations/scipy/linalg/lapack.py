"""Wrappers of LAPACK that solve systems: what SciPy's own Python code calls."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.linalg import lapack

from mooncake_py.integrations.scipy.linalg.wrappers import each_kind, is_in_place, returned
from mooncake_py.rules.declare import zero_derivative

__all__: list[str] = []

zero_derivative(sl.get_blas_funcs, sl.get_lapack_funcs, because="picks a function by dtypes")


@each_kind(lapack, "gesv")
def gesv_for(dtype: Any) -> Any:
    def gesv(a: Any, b: Any, overwrite_a: bool = False, overwrite_b: bool = False) -> Any:
        """Solve A X = B; a zero pivot is reported by its place."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sl.LinAlgWarning)  # LAPACK tells the place instead
            lu, piv = sl.lu_factor(np.asarray(a, dtype), check_finite=False)
        zeros = np.flatnonzero(np.diagonal(lu) == 0)
        x = np.array(b, dtype)
        if not len(zeros):
            x = sl.lu_solve((lu, piv), x, check_finite=False)
        lu = returned(lu, a, overwrite_a, dtype)
        first = int(zeros[0]) + 1 if len(zeros) else 0
        return lu, piv, returned(x, b, overwrite_b, dtype), first

    return gesv


@each_kind(lapack, "gbsv")
def gbsv_for(dtype: Any) -> Any:
    def gbsv(
        kl: int, ku: int, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False
    ) -> Any:
        """Solve for a band matrix, with `kl` rows above it that LAPACK fills.

        The factors and pivots, which would come first, are None: they have no derivative here.
        What would stand in the matrix then is nan.
        """
        x, singular = np.array(b, dtype), 0
        try:
            x = sl.solve_banded((kl, ku), np.asarray(ab, dtype)[kl:], x, check_finite=False)
        except np.linalg.LinAlgError:
            singular = 1
        if is_in_place(ab, overwrite_ab, dtype):
            ab[...] = np.nan
        return None, None, returned(x, b, overwrite_b, dtype), singular

    return gbsv
