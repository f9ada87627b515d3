"""Factors of tridiagonal matrices, and systems solved with them, row by row as LAPACK does."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.linalg.lapack

from mooncake_py.integrations.scipy.linalg.wrappers import each_kind

__all__: list[str] = []

lapack: Any = scipy.linalg.lapack


def size(x: Any) -> Any:
    """Return the size by which LAPACK chooses pivots."""
    return abs(np.real(x)) + abs(np.imag(x))


@each_kind(lapack, "gttrf", into=("dl", "d", "du"))
def gttrf_for(dtype: Any) -> Any:
    def gttrf(dl: Any, d: Any, du: Any) -> Any:
        """Eliminate what is below the diagonal; rows that change places fill a third diagonal."""
        dl, d, du = (list(np.asarray(v, dtype)) for v in (dl, d, du))
        n, du2 = len(d), [dtype(0)] * (len(d) - 2)
        for i in range(n - 1):
            if size(d[i]) >= size(dl[i]):
                dl[i] = dl[i] / d[i] if d[i] != 0 else dl[i]
                d[i + 1] = d[i + 1] - dl[i] * du[i] if d[i] != 0 else d[i + 1]
                continue
            factor = d[i] / dl[i]
            d[i], dl[i] = dl[i], factor
            du[i], d[i + 1] = d[i + 1], du[i] - factor * d[i + 1]
            if i < n - 2:
                du2[i], du[i + 1] = du[i + 1], -factor * du[i + 1]
        return (*[np.array(v, dtype) for v in (dl, d, du, du2)], None, None)

    return gttrf


@each_kind(lapack, "gttrs", into=("b",))
def gttrs_for(dtype: Any) -> Any:
    def gttrs(dl: Any, d: Any, du: Any, du2: Any, ipiv: Any, b: Any, trans: Any = "N") -> Any:
        kind = trans.decode() if isinstance(trans, bytes) else trans
        dl, d, du, du2 = (np.asarray(v, dtype) for v in (dl, d, du, du2))
        if kind == "C":
            dl, d, du, du2 = (np.conj(v) for v in (dl, d, du, du2))
        swaps = [int(place) != i + 1 for i, place in enumerate(ipiv)]
        rows = list(np.array(b, dtype))
        solve = solve_factors if kind == "N" else solve_transposed
        solve(dl, d, du, du2, swaps, rows)
        return np.array(rows, dtype), None

    return gttrs


def solve_factors(dl: Any, d: Any, du: Any, du2: Any, swaps: list[bool], b: list[Any]) -> None:
    """Solve L U X = B in place, by rows."""
    n = len(d)
    for i in range(n - 1):
        if swaps[i]:
            b[i], b[i + 1] = b[i + 1], b[i] - dl[i] * b[i + 1]
        else:
            b[i + 1] = b[i + 1] - dl[i] * b[i]
    for i in range(n - 1, -1, -1):
        row = b[i]
        if i < n - 1:
            row = row - du[i] * b[i + 1]
        if i < n - 2:
            row = row - du2[i] * b[i + 2]
        b[i] = row / d[i]


def solve_transposed(dl: Any, d: Any, du: Any, du2: Any, swaps: list[bool], b: list[Any]) -> None:
    """Solve the transposed system in place, by rows."""
    n = len(d)
    for i in range(n):
        row = b[i]
        if i > 0:
            row = row - du[i - 1] * b[i - 1]
        if i > 1:
            row = row - du2[i - 2] * b[i - 2]
        b[i] = row / d[i]
    for i in range(n - 2, -1, -1):
        if swaps[i]:
            b[i], b[i + 1] = b[i + 1], b[i] - dl[i] * b[i + 1]
        else:
            b[i] = b[i] - dl[i] * b[i + 1]


@each_kind(lapack, "pttrf", into=("d", "e"))
def pttrf_for(dtype: Any) -> Any:
    real = np.zeros(0, dtype).real.dtype.type

    def pttrf(d: Any, e: Any) -> Any:
        """Return D and the diagonal below that of L, of A = L D L^H."""
        d, e = list(np.asarray(d, real)), list(np.asarray(e, dtype))
        for i in range(len(d)):
            if not d[i] > 0:
                raise np.linalg.LinAlgError("the matrix is not positive definite")
            if i < len(d) - 1:
                below = e[i]
                e[i] = below / d[i]
                d[i + 1] = d[i + 1] - np.real(e[i] * np.conj(below))
        return np.array(d, real), np.array(e, dtype), None

    return pttrf


@each_kind(lapack, "pttrs", "sd", into=("b",))
def pttrs_for(dtype: Any) -> Any:
    def pttrs(d: Any, e: Any, b: Any) -> Any:
        return solved_definite(d, np.asarray(e, dtype), np.array(b, dtype)), None

    return pttrs


@each_kind(lapack, "pttrs", "cz", into=("b",))
def complex_pttrs_for(dtype: Any) -> Any:
    def pttrs(d: Any, e: Any, b: Any, lower: Any = 0) -> Any:
        e = np.asarray(e, dtype)
        return solved_definite(d, e if lower else np.conj(e), np.array(b, dtype)), None

    return pttrs


def solved_definite(d: Any, below: Any, b: Any) -> Any:
    """Return the solution of L D L^H X = B, of which L has a diagonal below that of ones."""
    rows, n = list(b), len(d)
    for i in range(1, n):
        rows[i] = rows[i] - below[i - 1] * rows[i - 1]
    for i in range(n - 1, -1, -1):
        row = rows[i] / d[i]
        rows[i] = row - np.conj(below[i]) * rows[i + 1] if i < n - 1 else row
    return np.array(rows, b.dtype)
