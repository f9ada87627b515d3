"""Wrappers of LAPACK that solve systems and factorize, by functions of SciPy that have rules."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.linalg
import scipy.linalg.lapack

from mooncake_py.integrations.scipy.linalg.wrappers import each_kind, merged
from mooncake_py.rules.declare import zero_derivative

__all__: list[str] = []

lapack: Any = scipy.linalg.lapack
sl: Any = scipy.linalg

zero_derivative(sl.get_blas_funcs, sl.get_lapack_funcs, because="picks a function by dtypes")
zero_derivative(
    *(getattr(lapack, name) for name in dir(lapack) if name.endswith("_lwork")),
    because="returns sizes of workspace",
)


@contextmanager
def silent() -> Iterator[None]:
    """Leave out warnings of SciPy: LAPACK returns `info` instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.LinAlgWarning)
        yield


# General matrices.


@each_kind(lapack, "gesv", into=("a", None, "b"))
def gesv_for(dtype: Any) -> Any:
    def gesv(a: Any, b: Any) -> Any:
        """Solve A X = B; a zero pivot is reported by its place, and leaves B."""
        with silent():
            lu, piv = sl.lu_factor(np.asarray(a, dtype), check_finite=False)
        x = np.array(b, dtype)
        if np.all(np.diagonal(lu)):
            x = sl.lu_solve((lu, piv), x, check_finite=False)
        return lu, None, x, None

    return gesv


@each_kind(lapack, "getrf", into=("a",))
def getrf_for(dtype: Any) -> Any:
    def getrf(a: Any) -> Any:
        with silent():
            lu, _ = sl.lu_factor(np.asarray(a, dtype), check_finite=False)
        return lu, None, None

    return getrf


@each_kind(lapack, "getrs", into=("b",))
def getrs_for(dtype: Any) -> Any:
    def getrs(lu: Any, piv: Any, b: Any, trans: int = 0) -> Any:
        lu, b = np.asarray(lu, dtype), np.asarray(b, dtype)
        return sl.lu_solve((lu, piv), b, trans, check_finite=False), None

    return getrs


@each_kind(lapack, "getri", into=("lu",))
def getri_for(dtype: Any) -> Any:
    def getri(lu: Any, piv: Any, lwork: Any = None) -> Any:
        lu = regular(np.asarray(lu, dtype))
        return sl.lu_solve((lu, piv), np.eye(len(lu), dtype=dtype), check_finite=False), None

    return getri


@each_kind(lapack, "geqrf", into=("a",))
def geqrf_for(dtype: Any) -> Any:
    def geqrf(a: Any, lwork: Any = None) -> Any:
        """Return the reflections as NumPy does, whose matrix is the transpose."""
        h, tau = np.linalg.qr(np.asarray(a, dtype), mode="raw")
        return h.T, tau, None, None

    return geqrf


def regular(a: Any) -> Any:
    """Return a triangular matrix, which has no zero on its diagonal."""
    if not np.all(np.diagonal(a)):
        raise np.linalg.LinAlgError("LAPACK stops at a zero on the diagonal")
    return a


# Positive definite matrices: one triangle is read.


@each_kind(lapack, "potrf", into=("a",))
def potrf_for(dtype: Any) -> Any:
    def potrf(a: Any, lower: int = 0, clean: int = 1) -> Any:
        a = np.asarray(a, dtype)
        if clean:
            return sl.cholesky(a, bool(lower), check_finite=False), None
        return sl.cho_factor(a, bool(lower), check_finite=False)[0], None

    return potrf


@each_kind(lapack, "potrs", into=("b",))
def potrs_for(dtype: Any) -> Any:
    def potrs(c: Any, b: Any, lower: int = 0) -> Any:
        factor = np.asarray(c, dtype), bool(lower)
        return sl.cho_solve(factor, np.asarray(b, dtype), check_finite=False), None

    return potrs


@each_kind(lapack, "potri", into=("c",))
def potri_for(dtype: Any) -> Any:
    def potri(c: Any, lower: int = 0) -> Any:
        """Return the inverse; LAPACK drops some imaginary parts of a diagonal that is not real."""
        c = regular(np.asarray(c, dtype))
        if np.any(np.imag(np.diagonal(c))):
            raise np.linalg.LinAlgError("a factor by Cholesky has a real diagonal")
        inverse = sl.cho_solve((c, bool(lower)), np.eye(len(c), dtype=dtype), check_finite=False)
        return merged(inverse, c, lower), None

    return potri


@each_kind(lapack, "posv", into=("a", "b"))
def posv_for(dtype: Any) -> Any:
    def posv(a: Any, b: Any, lower: int = 0) -> Any:
        factor = sl.cho_factor(np.asarray(a, dtype), bool(lower), check_finite=False)
        return factor[0], sl.cho_solve(factor, np.asarray(b, dtype), check_finite=False), None

    return posv


# Symmetric and Hermitian ones: the factors have no rule.


def indefinite_for(structure: str) -> Any:
    """Return a maker of replacements for matrices with that structure."""

    def made_for(dtype: Any) -> Any:
        def solved(a: Any, b: Any, lwork: Any = None, lower: int = 0) -> Any:
            a, b = np.asarray(a, dtype), np.asarray(b, dtype)
            with silent():
                x = sl.solve(a, b, lower=bool(lower), assume_a=structure, check_finite=False)
            return None, None, x, None

        return solved

    return made_for


each_kind(lapack, "sysv", into=("a", None, "b"))(indefinite_for("sym"))
each_kind(lapack, "hesv", "cz", into=("a", None, "b"))(indefinite_for("her"))


# Triangular matrices.


@each_kind(lapack, "trtrs", into=("b",))
def trtrs_for(dtype: Any) -> Any:
    def trtrs(
        a: Any, b: Any, lower: int = 0, trans: int = 0, unitdiag: int = 0, lda: Any = None
    ) -> Any:
        a, b = np.asarray(a, dtype), np.asarray(b, dtype)
        with silent():
            x = sl.solve_triangular(a, b, trans, bool(lower), bool(unitdiag), check_finite=False)
        return x, None

    return trtrs


@each_kind(lapack, "trtri", into=("c",))
def trtri_for(dtype: Any) -> Any:
    def trtri(c: Any, lower: int = 0, unitdiag: int = 0) -> Any:
        c = np.asarray(c, dtype)
        one = np.eye(len(c), dtype=dtype)
        with silent():
            inverse = sl.solve_triangular(c, one, 0, bool(lower), bool(unitdiag))
        return merged(inverse, c, lower, unitdiag), None

    return trtri


# Bands.


@each_kind(lapack, "gbsv", into=("ab", None, "b"))
def gbsv_for(dtype: Any) -> Any:
    def gbsv(kl: int, ku: int, ab: Any, b: Any) -> Any:
        """Solve for a band matrix, with `kl` rows above it that LAPACK fills."""
        ab, b = np.asarray(ab, dtype)[kl:], np.asarray(b, dtype)
        return None, None, sl.solve_banded((kl, ku), ab, b, check_finite=False), None

    return gbsv


@each_kind(lapack, "gtsv", into=("dl", "d", "du", "b"))
def gtsv_for(dtype: Any) -> Any:
    def gtsv(dl: Any, d: Any, du: Any, b: Any) -> Any:
        """Solve for three diagonals; the factors in their places have no derivative."""
        d, b, zero = np.asarray(d, dtype), np.asarray(b, dtype), np.zeros(1, dtype)
        below = np.concatenate([np.asarray(dl, dtype)[: len(d) - 1], zero])
        above = np.concatenate([zero, np.asarray(du, dtype)[: len(d) - 1]])
        x = sl.solve_banded((1, 1), np.stack([above, d, below]), b, check_finite=False)
        return None, None, None, x, None

    return gtsv


@each_kind(lapack, "ptsv", into=("d", "e", "b"))
def ptsv_for(dtype: Any) -> Any:
    def ptsv(d: Any, e: Any, b: Any) -> Any:
        """Solve for a diagonal and the one below it."""
        below = np.concatenate([np.asarray(e, dtype)[: len(d) - 1], np.zeros(1, dtype)])
        ab = np.stack([np.asarray(d, dtype), below])
        x = sl.solveh_banded(ab, np.asarray(b, dtype), lower=True, check_finite=False)
        return None, None, x, None

    return ptsv


@each_kind(lapack, "pbtrf", into=("ab",))
def pbtrf_for(dtype: Any) -> Any:
    def pbtrf(ab: Any, lower: int = 0, ldab: Any = None) -> Any:
        ab = np.asarray(ab, dtype)
        return sl.cholesky_banded(ab, lower=bool(lower), check_finite=False), None

    return pbtrf


@each_kind(lapack, "pbtrs", into=("b",))
def pbtrs_for(dtype: Any) -> Any:
    def pbtrs(ab: Any, b: Any, lower: int = 0, ldab: Any = None) -> Any:
        factor = np.asarray(ab, dtype), bool(lower)
        return sl.cho_solve_banded(factor, np.asarray(b, dtype), check_finite=False), None

    return pbtrs


@each_kind(lapack, "pbsv", into=("ab", "b"))
def pbsv_for(dtype: Any) -> Any:
    def pbsv(ab: Any, b: Any, lower: int = 0, ldab: Any = None) -> Any:
        c = sl.cholesky_banded(np.asarray(ab, dtype), lower=bool(lower), check_finite=False)
        x = sl.cho_solve_banded((c, bool(lower)), np.asarray(b, dtype), check_finite=False)
        return c, x, None

    return pbsv
