"""Kernels that multiply: a sparse matrix and vectors, and two sparse matrices."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy import ndarray

from mooncake_py.integrations.scipy.sparse.patterns import (
    blocks_of,
    find,
    kernels,
    replaces,
    rows_of,
)  # fmt: skip
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, overlay, zero_derivative
from mooncake_py.rules.exact_zeros import scaled, sum_of_products
from mooncake_py.rules.sources import without_rule

__all__: list[str] = []


# Compressed rows or columns times a vector, or several in the columns of an array.

KERNELS = {
    (True, 1): kernels.csr_matvec,
    (True, 2): kernels.csr_matvecs,
    (False, 1): kernels.csc_matvec,
    (False, 2): kernels.csc_matvecs,
}


def times(by_rows: bool, shape: Any, Ap: Any, Aj: Any, Ax: Any, x: Any) -> ndarray:
    """Multiply a matrix in compressed rows, or else columns, and vectors."""
    y = np.zeros((shape[0], *x.shape[1:]), np.result_type(Ax, x))
    sizes = (*shape, *x.shape[1:])
    KERNELS[by_rows, x.ndim](*sizes, Ap, Aj, Ax, np.ravel(x), y.ravel())
    return y


@from_vjp(times)
def times_rule(by_rows: bool, shape: Any, Ap: Any, Aj: Any, Ax: Any, x: Any) -> tuple[Any, Any]:
    """Multiply by the transpose, which has the same arrays with rows for columns."""
    y = times(by_rows, shape, Ap, Aj, Ax, x)

    def times_pullback(dy: ndarray) -> tuple[Any, ...]:
        def of_data() -> Any:
            major, minor = (dy, conj(x)) if by_rows else (conj(x), dy)
            products = scaled_rows(major[rows_of(Ap)], minor[Aj], by_rows)
            return products if products.ndim == 1 else products.sum(axis=1)

        def of_x() -> Any:
            def transposed(dy: Any, data: Any) -> Any:
                return times(not by_rows, shape[::-1], Ap, Aj, data, dy)

            return sum_of_products(transposed, dy, conj(Ax))

        return None, None, None, None, of_data, of_x

    return y, times_pullback


def scaled_rows(major: Any, minor: Any, by_rows: bool) -> Any:
    """Return products of a cotangent and a factor, of which the first is the cotangent or not."""
    return scaled(major, minor) if by_rows else scaled(minor, major)


product: Any = sp.csr_array.__matmul__
product_in_python = without_rule(inspect.unwrap(product))


@overlay(product)
def matmul(self: Any, other: Any) -> Any:
    """Take the short way where a matrix in compressed rows or columns meets an array."""
    is_plain = type(other) is ndarray and 0 < other.ndim < 3 and other.dtype.kind in "fc"
    if is_plain and self.format in ("csr", "csc") and self.shape[1:] == other.shape[:1]:
        return times(self.format == "csr", self.shape, self.indptr, self.indices, self.data, other)
    return product_in_python(self, other)


@replaces("csr_matvec")
def csr_matvec(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    Yx += times(True, (n_row, n_col), Ap, Aj, Ax, Xx)


@replaces("csc_matvec")
def csc_matvec(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    Yx += times(False, (n_row, n_col), Ap, Aj, Ax, Xx)


@replaces("csr_matvecs")
def csr_matvecs(n_row: int, n_col: int, n: int, Ap: Any, Aj: Any, Ax: Any, X: Any, Y: Any) -> None:
    Y += times(True, (n_row, n_col), Ap, Aj, Ax, X.reshape(n_col, n)).ravel()


@replaces("csc_matvecs")
def csc_matvecs(n_row: int, n_col: int, n: int, Ap: Any, Aj: Any, Ax: Any, X: Any, Y: Any) -> None:
    Y += times(False, (n_row, n_col), Ap, Aj, Ax, X.reshape(n_col, n)).ravel()


# Other formats times vectors.


@replaces("coo_matvec")
def coo_matvec(nnz: int, Ai: Any, Aj: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    np.add.at(Yx, Ai, Ax * Xx[Aj])


@replaces("coo_matmat_dense")
def coo_matmat_dense(nnz: int, n: int, Ai: Any, Aj: Any, Ax: Any, X: Any, Y: Any) -> None:
    np.add.at(Y.reshape(-1, n), Ai, Ax[:, None] * X.reshape(-1, n)[Aj])


@replaces("bsr_matvec")
def bsr_matvec(
    n_row: int, n_col: int, height: int, width: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any, Yx: Any
) -> None:  # fmt: skip
    rows, columns = blocks_of(height, width, Ap, Aj)
    np.add.at(Yx, rows, Ax.ravel() * Xx[columns])


@replaces("bsr_matvecs")
def bsr_matvecs(
    n_row: int, n_col: int, n: int, height: int, width: int,
    Ap: Any, Aj: Any, Ax: Any, X: Any, Y: Any,
) -> None:  # fmt: skip
    rows, columns = blocks_of(height, width, Ap, Aj)
    np.add.at(Y.reshape(-1, n), rows, Ax.ravel()[:, None] * X.reshape(-1, n)[columns])


@replaces("dia_matvec")
def dia_matvec(
    n_row: int, n_col: int, n: int, length: int, offsets: Any, diagonals: Any, X: Any, Y: Any
) -> None:
    dia_matvecs(n_row, n_col, n, length, offsets, diagonals, 1, X, Y)


@replaces("dia_matvecs")
def dia_matvecs(
    n_row: int, n_col: int, n: int, length: int, offsets: Any, diagonals: Any,
    n_vectors: int, X: Any, Y: Any,
) -> None:  # fmt: skip
    x, y = X.reshape(-1, n_vectors), Y.reshape(-1, n_vectors)
    for k in range(n):
        i, j, count = reach(n_row, min(n_col, length), int(offsets[k]))
        y[i : i + count] += diagonals[k, j : j + count, None] * x[j : j + count]


def reach(n_row: int, n_col: int, offset: int) -> tuple[int, int, int]:
    """Return the row and the column in which a diagonal begins, and its length."""
    i, j = max(0, -offset), max(0, offset)
    return i, j, max(0, min(n_row - i, n_col - j))


# Two sparse matrices.


def pairs(n_row: int, n_col: int, A: Any, B: Any, nnz: int) -> tuple[Any, ...]:
    """Return the pattern of a product, and for each product of elements the places of all three."""
    (Ap, Aj), (Bp, Bj) = A, B
    counts = np.diff(Bp)[Aj]
    left = np.repeat(np.arange(len(Aj)), counts)
    within = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = np.repeat(Bp[:-1][Aj], counts) + within
    pointers, indices = np.empty(n_row + 1, Ap.dtype), np.empty(nnz, Ap.dtype)
    ones = [np.ones(len(j)) for j in (Aj, Bj)]
    kernels.csr_matmat(
        n_row, n_col, Ap, Aj, ones[0], Bp, Bj, ones[1], pointers, indices, np.empty(nnz)
    )
    into = find(n_col, (pointers, indices), rows_of(Ap)[left], Bj[right])
    return pointers, indices, left, right, into


zero_derivative(reach, pairs, because="of indices")


@replaces("csr_matmat")
def csr_matmat(
    n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bp: Any, Bj: Any, Bx: Any,
    Cp: Any, Cj: Any, Cx: Any,
) -> None:  # fmt: skip
    pointers, indices, left, right, into = pairs(n_row, n_col, (Ap, Aj), (Bp, Bj), len(Cj))
    Cp[...], Cj[...], Cx[...] = pointers, indices, 0
    np.add.at(Cx, into, Ax[left] * Bx[right])


@replaces("bsr_matmat")
def bsr_matmat(
    nnz: int, n_row: int, n_col: int, height: int, width: int, n: int,
    Ap: Any, Aj: Any, Ax: Any, Bp: Any, Bj: Any, Bx: Any, Cp: Any, Cj: Any, Cx: Any,
) -> None:  # fmt: skip
    """Multiply block by block."""
    pointers, indices, left, right, into = pairs(n_row, n_col, (Ap, Aj), (Bp, Bj), len(Cj))
    a, b = Ax.reshape(-1, height, n), Bx.reshape(-1, n, width)
    Cp[...], Cj[...], Cx[...] = pointers, indices, 0
    np.add.at(Cx.reshape(-1, height, width), into, a[left] @ b[right])


@replaces("dia_matmat")
def dia_matmat(
    n_row: int, n: int, n_a: int, length_a: int, a_offsets: Any, a: Any,
    n_col: int, n_b: int, length_b: int, b_offsets: Any, b: Any,
) -> Any:  # fmt: skip
    """Multiply diagonal by diagonal: a_(i,k) b_(k,j) with k = i + p and j = k + q."""
    offsets, length = diagonals_of_product(
        n_row, n, n_a, length_a, a_offsets, n_col, n_b, length_b, b_offsets
    )
    c = np.zeros((len(offsets), length), np.result_type(a, b))
    places = {int(offset): m for m, offset in enumerate(offsets)}
    for s in range(n_a):
        for t in range(n_b):
            p, q = int(a_offsets[s]), int(b_offsets[t])
            first = max(0, p, -q)
            last = min(length_a, n, n_row + p, min(n_col, length_b) - q)
            if first < last:
                c[places[p + q], first + q : last + q] += (
                    a[s, first:last] * b[t, first + q : last + q]
                )
    return offsets, c.ravel()


def diagonals_of_product(
    n_row: int, n: int, n_a: int, length_a: int, a_offsets: Any,
    n_col: int, n_b: int, length_b: int, b_offsets: Any,
) -> tuple[ndarray, int]:  # fmt: skip
    """Return the offsets of the diagonals of a product, and how many elements SciPy gives each."""
    ones = np.ones((n_a, length_a)), np.ones((n_b, length_b))
    offsets, elements = kernels.dia_matmat(
        n_row, n, n_a, length_a, a_offsets, ones[0], n_col, n_b, length_b, b_offsets, ones[1]
    )
    return offsets, len(elements) // max(1, len(offsets))


zero_derivative(diagonals_of_product, because="of indices")
