"""Systems of linear equations and factors of matrices, as plain Python that our reader reads.

Each function writes its first argument, and returns False where there is no solution, or one that
is not finite.  They go through blocks of columns: what is left of a matrix then changes by a
product, which is for BLAS.

I. Murray, "Differentiation of the Cholesky decomposition" (arXiv:1602.07527), is where the blocks
of `cholesky_back` are from.
"""

from __future__ import annotations

import math
from math import log, sqrt

from numpy import arange, empty, ndarray

__all__ = [
    "cholesky", "cholesky_back", "cofactors", "determinant", "inverse_transposed",
    "log_determinant", "order_of", "solve", "solve_lower", "solve_lower_transposed",
    "solve_transposed", "stable_order_of",
]  # fmt: skip

BLOCK = 48
WELL_CONDITIONED = 100_000


def is_finite(a: ndarray) -> bool:
    """Return True if all numbers of a matrix are finite."""
    return bool((0.0 * a).sum() == 0.0)


# Systems.


def factor(lu: ndarray, order: ndarray) -> int:
    """Replace a matrix by its LU factors, with its rows in another order.

    Returns
    -------
    int
        How many rows have changed places; -1 for a singular matrix.
    """
    n = lu.shape[0]
    swaps = 0
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        for k in range(first, last):
            best = k
            for i in range(k + 1, n):
                if abs(lu[i, k]) > abs(lu[best, k]):
                    best = i
            if not abs(lu[best, k]) > 0.0:
                return -1
            if best != k:
                swaps += 1
                order[k], order[best] = order[best], order[k]
                for j in range(n):
                    lu[k, j], lu[best, j] = lu[best, j], lu[k, j]
            for i in range(k + 1, n):
                lu[i, k] /= lu[k, k]
                for j in range(k + 1, last):
                    lu[i, j] -= lu[i, k] * lu[k, j]
        for i in range(first + 1, last):
            for k in range(first, i):
                for j in range(last, n):
                    lu[i, j] -= lu[i, k] * lu[k, j]
        lu[last:, last:] -= lu[last:, first:last] @ lu[first:last, last:]
    return swaps


def substitute(lu: ndarray, y: ndarray) -> None:
    """Solve for the columns of a matrix, given LU factors."""
    n, m = y.shape
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        for i in range(first + 1, last):
            for k in range(first, i):
                for j in range(m):
                    y[i, j] -= lu[i, k] * y[k, j]
        y[last:, :] -= lu[last:, first:last] @ y[first:last, :]
    for first in range((n - 1) // BLOCK * BLOCK, -1, -BLOCK):
        last = min(first + BLOCK, n)
        for i in range(last - 1, first - 1, -1):
            for k in range(i + 1, last):
                for j in range(m):
                    y[i, j] -= lu[i, k] * y[k, j]
            for j in range(m):
                y[i, j] /= lu[i, i]
        y[:first, :] -= lu[:first, first:last] @ y[first:last, :]


def solve(y: ndarray, a: ndarray, b: ndarray) -> bool:
    """Solve ``a @ y = b``."""
    return solve_in_place(y, a.copy(), b)


def solve_transposed(y: ndarray, a: ndarray, b: ndarray) -> bool:
    """Solve ``a.T @ y = b``."""
    return solve_in_place(y, a.T.copy(), b)


def solve_in_place(y: ndarray, lu: ndarray, b: ndarray) -> bool:
    """Solve ``lu @ y = b``, of which the matrix is used up; nan where there is no solution."""
    n, m = y.shape
    order = arange(n)
    y[:, :] = math.nan
    if not is_finite(lu):
        return False
    swaps = factor(lu, order)
    if swaps < 0:
        return False
    for i in range(n):
        for j in range(m):
            y[i, j] = b[order[i], j]
    substitute(lu, y)
    return is_finite(y)


def solve_lower(y: ndarray, low: ndarray, b: ndarray) -> bool:
    """Solve ``low @ y = b`` for a lower triangle."""
    n, m = y.shape
    y[:, :] = b
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        for i in range(first, last):
            for k in range(first, i):
                for j in range(m):
                    y[i, j] -= low[i, k] * y[k, j]
            for j in range(m):
                y[i, j] /= low[i, i]
        y[last:, :] -= low[last:, first:last] @ y[first:last, :]
    return is_finite(y)


def solve_lower_transposed(y: ndarray, low: ndarray, b: ndarray) -> bool:
    """Solve ``low.T @ y = b`` for a lower triangle."""
    n, m = y.shape
    y[:, :] = b
    for first in range((n - 1) // BLOCK * BLOCK, -1, -BLOCK):
        last = min(first + BLOCK, n)
        for i in range(last - 1, first - 1, -1):
            for k in range(i + 1, last):
                for j in range(m):
                    y[i, j] -= low[k, i] * y[k, j]
            for j in range(m):
                y[i, j] /= low[i, i]
        y[:first, :] -= low[first:last, :first].T @ y[first:last, :]
    return is_finite(y)


def determinant(y: ndarray, a: ndarray) -> bool:
    """Compute the determinant of a matrix that is well-conditioned, as an array of one number."""
    n = a.shape[0]
    lu, inverse = a.copy(), empty((n, n))
    size = 0.0
    for i in range(n):
        for j in range(n):
            inverse[i, j] = 0.0
            size += a[i, j] * a[i, j]
    order = arange(n)
    swaps = factor(lu, order)
    if swaps < 0:
        return False
    for i in range(n):
        inverse[i, order[i]] = 1.0
    substitute(lu, inverse)
    y[0] = 1.0 if swaps % 2 == 0 else -1.0
    apart = 0.0
    for i in range(n):
        y[0] *= lu[i, i]
        for j in range(n):
            apart += inverse[i, j] * inverse[i, j]
    return bool(sqrt(size * apart) < WELL_CONDITIONED) and bool(y[0] - y[0] == 0.0)


def log_determinant(y: ndarray, a: ndarray) -> bool:
    """Compute the sign of a determinant, and the logarithm of its size."""
    n = a.shape[0]
    lu = a.copy()
    order = arange(n)
    if not is_finite(lu):
        return False
    swaps = factor(lu, order)
    if swaps < 0:
        return False
    y[0] = 1.0 if swaps % 2 == 0 else -1.0
    y[1] = 0.0
    for i in range(n):
        if lu[i, i] < 0.0:
            y[0] = -y[0]
        y[1] += log(abs(lu[i, i]))
    return True


def inverse_transposed(c: ndarray, a: ndarray) -> bool:
    """Compute the derivative of the logarithm of the size of a determinant."""
    n = a.shape[0]
    one = empty((n, n))
    for i in range(n):
        for j in range(n):
            one[i, j] = 1.0 if i == j else 0.0
    return solve_transposed(c, a, one)


def cofactors(c: ndarray, a: ndarray, det: ndarray) -> bool:
    """Compute the derivative of a determinant, of which the value is known."""
    n = a.shape[0]
    one = empty((n, n))
    for i in range(n):
        for j in range(n):
            one[i, j] = det[0] if i == j else 0.0
    return solve_transposed(c, a, one)


# Orders.


def stable_order_of(order: ndarray, a: ndarray) -> bool:
    """Compute where elements are, from the smallest on, equal ones as they were; False with nan."""
    n = a.shape[0]
    other = arange(n)
    for k in range(n):
        order[k] = k
        if a[k] != a[k]:
            return False
    width = 1
    while width < n:
        first = 0
        while first < n:
            middle = min(first + width, n)
            last = min(first + 2 * width, n)
            i = first
            j = middle
            for k in range(first, last):
                source = i
                if i >= middle or (j < last and a[order[min(j, n - 1)]] < a[order[i]]):
                    source = j
                other[k] = order[source]
                if source >= middle:
                    j += 1
                else:
                    i += 1
            first += 2 * width
        for k in range(n):
            order[k] = other[k]
        width *= 2
    return True


def order_of(order: ndarray, a: ndarray) -> bool:
    """Compute where the elements of a vector are, from the smallest on; False with ties or nan."""
    if not stable_order_of(order, a):
        return False
    n = a.shape[0]
    ties = 0
    for k in range(1, n):
        if a[order[k - 1]] == a[order[k]]:
            ties += 1
    return ties == 0


# Cholesky factors.


def cholesky(low: ndarray, a: ndarray) -> bool:
    """Compute the factor of a positive definite matrix, whose lower triangle is read."""
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            low[i, j] = a[i, j] if j <= i else 0.0
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        for j in range(first, last):
            pivot = low[j, j] - low[j, first:j] @ low[j, first:j]
            if not pivot > 0.0:
                return False
            low[j, j] = sqrt(pivot)
            for i in range(j + 1, n):
                low[i, j] = (low[i, j] - low[i, first:j] @ low[j, first:j]) / low[j, j]
        low[last:, last:] -= low[last:, first:last] @ low[last:, first:last].T
    for i in range(n):
        for j in range(i + 1, n):
            low[i, j] = 0.0
    return is_finite(low)


def cholesky_back(da: ndarray, low: ndarray, dlow: ndarray) -> bool:
    """Add to a cotangent what that of the factor makes of it; the latter is used up."""
    n = low.shape[0]
    for first in range((n - 1) // BLOCK * BLOCK, -1, -BLOCK):
        last = min(first + BLOCK, n)
        for i in range(last, n):
            for j in range(last - 1, first - 1, -1):
                dlow[i, j] /= low[j, j]
                for k in range(first, j):
                    dlow[i, k] -= dlow[i, j] * low[j, k]
        below = dlow[last:, first:last]
        dlow[last:, :first] -= below @ low[first:last, :first]
        dlow[first:last, first:last] -= below.T @ low[last:, first:last]
        cholesky_block_back(dlow, low, first, last)
        both = empty((last - first, last - first))
        for i in range(last - first):
            for j in range(i + 1):
                both[i, j] = dlow[first + i, first + j]
                both[j, i] = both[i, j]
            both[i, i] *= 2.0
        dlow[first:last, :first] -= below.T @ low[last:, :first]
        dlow[first:last, :first] -= both[:, :] @ low[first:last, :first]
    for i in range(n):
        for j in range(i + 1):
            da[i, j] += dlow[i, j]
    return True


def cholesky_block_back(dlow: ndarray, low: ndarray, first: int, last: int) -> None:
    """Replace the cotangent of a block of the factor by that of the block it was made of."""
    for j in range(last - 1, first - 1, -1):
        for i in range(j + 1, last):
            dlow[i, j] /= low[j, j]
            dlow[j, j] -= low[i, j] * dlow[i, j]
        dlow[j, j] /= 2.0 * low[j, j]
        for k in range(first, j):
            dlow[j, k] -= 2.0 * dlow[j, j] * low[j, k]
        for i in range(j + 1, last):
            for k in range(first, j):
                dlow[j, k] -= dlow[i, j] * low[i, k]
                dlow[i, k] -= dlow[i, j] * low[j, k]
