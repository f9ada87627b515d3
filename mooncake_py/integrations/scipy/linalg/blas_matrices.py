"""Wrappers of BLAS for matrices, written with the operators of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg.blas
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.blas import elements
from mooncake_py.integrations.scipy.linalg.wrappers import each_kind, merged, triangle

__all__: list[str] = []

blas: Any = scipy.linalg.blas
sl: Any = scipy.linalg


def op(a: Any, trans: int) -> Any:
    """Return the matrix, its transpose or its adjoint."""
    return a if trans == 0 else np.transpose(a) if trans == 1 else np.conj(a).T


def plus(product: Any, beta: Any, c: Any, dtype: Any) -> Any:
    """Return a product plus `beta` times a matrix, if there is one."""
    return product if c is None else product + beta * np.asarray(c, dtype)


# General matrices.


@each_kind(blas, "gemm", into=("c",))
def gemm_for(dtype: Any) -> Any:
    def gemm(
        alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans_a: int = 0,
        trans_b: int = 0,
    ) -> Any:  # fmt: skip
        a, b = op(np.asarray(a, dtype), trans_a), op(np.asarray(b, dtype), trans_b)
        return plus(alpha * (a @ b), beta, c, dtype)

    return gemm


def product_with_vector(
    matrix: Any, alpha: Any, x: Any, beta: Any, y: Any, steps: tuple[int, int, int, int], dtype: Any
) -> Any:
    """Return alpha A x + beta y, of vectors with an offset and a step each."""
    offx, incx, offy, incy = steps
    rows, columns = matrix.shape
    product = alpha * (matrix @ elements(np.asarray(x, dtype), columns, offx, incx))
    if y is None:
        y, beta = np.zeros(offy + 1 + (rows - 1) * abs(incy), dtype), 0.0
    result = np.array(y, dtype)
    into = elements(result, rows, offy, incy)
    into[...] = beta * into + product
    return result


@each_kind(blas, "gemv", into=("y",))
def gemv_for(dtype: Any) -> Any:
    def gemv(
        alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, offx: int = 0, incx: int = 1,
        offy: int = 0, incy: int = 1, trans: int = 0,
    ) -> Any:  # fmt: skip
        matrix, steps = op(np.asarray(a, dtype), trans), (offx, incx, offy, incy)
        return product_with_vector(matrix, alpha, x, beta, y, steps, dtype)

    return gemv


def outer_for(conjugated: bool) -> Callable[[Any], Any]:
    """Return a maker of replacements for alpha x y^T + A, or with y^H."""

    def made_for(dtype: Any) -> Any:
        def ger(alpha: Any, x: Any, y: Any, incx: int = 1, incy: int = 1, a: Any = None) -> Any:
            x = elements(np.asarray(x, dtype), None, 0, incx)
            y = elements(np.asarray(y, dtype), None, 0, incy)
            return plus(alpha * np.outer(x, np.conj(y) if conjugated else y), 1.0, a, dtype)

        return ger

    return made_for


each_kind(blas, "ger", "sd", into=("a",))(outer_for(False))
each_kind(blas, "geru", "cz", into=("a",))(outer_for(False))
each_kind(blas, "gerc", "cz", into=("a",))(outer_for(True))


# Symmetric and Hermitian matrices: one triangle is read, and one is written.


def whole(a: ndarray, lower: Any, hermitian: bool) -> ndarray:
    """Return the matrix of which a triangle is given; the diagonal of Hermitian ones is real."""
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    diagonal = np.diagonal(a)
    other = np.conj(half).T if hermitian else half.T
    return half + other + np.diag(np.real(diagonal) if hermitian else diagonal)


def half(product: ndarray, beta: Any, c: Any, lower: Any, hermitian: bool, dtype: Any) -> ndarray:
    """Return a triangle of a product plus `beta` C; the other one is that of C, or zero."""
    c = np.zeros(product.shape, dtype) if c is None else np.asarray(c, dtype)
    scaled = beta * c
    if hermitian:
        scaled = scaled - 1j * np.diag(np.imag(np.diagonal(scaled)))
    return merged(product + scaled, c, lower)


def symmetric_product_for(hermitian: bool) -> Callable[[Any], Any]:
    """Return a maker of replacements for alpha A B + beta C, or alpha B A + beta C."""

    def made_for(dtype: Any) -> Any:
        def symm(
            alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, side: int = 0,
            lower: int = 0,
        ) -> Any:  # fmt: skip
            a, b = whole(np.asarray(a, dtype), lower, hermitian), np.asarray(b, dtype)
            return plus(alpha * (b @ a if side else a @ b), beta, c, dtype)

        return symm

    return made_for


def symmetric_vector_for(hermitian: bool) -> Callable[[Any], Any]:
    """Return a maker of replacements for alpha A x + beta y."""

    def made_for(dtype: Any) -> Any:
        def symv(
            alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, offx: int = 0,
            incx: int = 1, offy: int = 0, incy: int = 1, lower: int = 0,
        ) -> Any:  # fmt: skip
            matrix = whole(np.asarray(a, dtype), lower, hermitian)
            steps = (offx, incx, offy, incy)
            return product_with_vector(matrix, alpha, x, beta, y, steps, dtype)

        return symv

    return made_for


def rank_k_for(hermitian: bool) -> Callable[[Any], Any]:
    """Return a maker of replacements for a triangle of alpha A A^T + beta C."""

    def made_for(dtype: Any) -> Any:
        def syrk(
            alpha: Any, a: Any, beta: Any = 0.0, c: Any = None, trans: int = 0, lower: int = 0
        ) -> Any:
            a = op(np.asarray(a, dtype), trans)
            product = alpha * (a @ (np.conj(a).T if hermitian else a.T))
            return half(product, beta, c, lower, hermitian, dtype)

        return syrk

    return made_for


def rank_2k_for(hermitian: bool) -> Callable[[Any], Any]:
    """Return a maker of replacements for a triangle of alpha A B^T + alpha B A^T + beta C."""

    def made_for(dtype: Any) -> Any:
        def syr2k(
            alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans: int = 0,
            lower: int = 0,
        ) -> Any:  # fmt: skip
            a, b = op(np.asarray(a, dtype), trans), op(np.asarray(b, dtype), trans)
            product = alpha * (a @ (np.conj(b).T if hermitian else b.T))
            product = product + (np.conj(product).T if hermitian else product.T)
            return half(product, beta, c, lower, hermitian, dtype)

        return syr2k

    return made_for


def rank_1_for(hermitian: bool) -> Callable[[Any], Any]:
    """Return a maker of replacements for a triangle of alpha x x^T + A."""

    def made_for(dtype: Any) -> Any:
        def syr(
            alpha: Any, x: Any, lower: int = 0, incx: int = 1, offx: int = 0, n: Any = None,
            a: Any = None,
        ) -> Any:  # fmt: skip
            x = elements(np.asarray(x, dtype), n, offx, incx)
            product = alpha * np.outer(x, np.conj(x) if hermitian else x)
            return half(product, 1.0, a, lower, hermitian, dtype)

        return syr

    return made_for


def rank_2_for(hermitian: bool) -> Callable[[Any], Any]:
    """Return a maker of replacements for a triangle of alpha x y^T + alpha y x^T + A."""

    def made_for(dtype: Any) -> Any:
        def syr2(
            alpha: Any, x: Any, y: Any, lower: int = 0, incx: int = 1, offx: int = 0,
            incy: int = 1, offy: int = 0, n: Any = None, a: Any = None,
        ) -> Any:  # fmt: skip
            x = elements(np.asarray(x, dtype), n, offx, incx)
            y = elements(np.asarray(y, dtype), n, offy, incy)
            product = alpha * np.outer(x, np.conj(y) if hermitian else y)
            product = product + (np.conj(product).T if hermitian else product.T)
            return half(product, 1.0, a, lower, hermitian, dtype)

        return syr2

    return made_for


each_kind(blas, "symm", into=("c",))(symmetric_product_for(False))
each_kind(blas, "hemm", "cz", into=("c",))(symmetric_product_for(True))
each_kind(blas, "symv", "sd", into=("y",))(symmetric_vector_for(False))
each_kind(blas, "hemv", "cz", into=("y",))(symmetric_vector_for(True))
each_kind(blas, "syrk", into=("c",))(rank_k_for(False))
each_kind(blas, "herk", "cz", into=("c",))(rank_k_for(True))
each_kind(blas, "syr2k", into=("c",))(rank_2k_for(False))
each_kind(blas, "her2k", "cz", into=("c",))(rank_2k_for(True))
each_kind(blas, "syr", into=("a",))(rank_1_for(False))
each_kind(blas, "her", "cz", into=("a",))(rank_1_for(True))
each_kind(blas, "syr2", "sd", into=("a",))(rank_2_for(False))
each_kind(blas, "her2", "cz", into=("a",))(rank_2_for(True))


# Triangular matrices.


@each_kind(blas, "trmm", into=("b",))
def trmm_for(dtype: Any) -> Any:
    def trmm(
        alpha: Any, a: Any, b: Any, side: int = 0, lower: int = 0, trans_a: int = 0, diag: int = 0
    ) -> Any:
        matrix = op(triangle(np.asarray(a, dtype), lower, diag), trans_a)
        b = np.asarray(b, dtype)
        return alpha * (b @ matrix if side else matrix @ b)

    return trmm


@each_kind(blas, "trsm", into=("b",))
def trsm_for(dtype: Any) -> Any:
    def trsm(
        alpha: Any, a: Any, b: Any, side: int = 0, lower: int = 0, trans_a: int = 0, diag: int = 0
    ) -> Any:
        """Return alpha A^-1 B, or alpha B A^-1, which is the transpose of the former's form."""
        a, b = np.asarray(a, dtype), alpha * np.asarray(b, dtype)
        if not side:
            return solved(a, b, trans_a, lower, diag)
        if trans_a == 2:
            return solved(np.conj(a), b.T, 0, lower, diag).T
        return solved(a, b.T, 1 - trans_a, lower, diag).T

    return trsm


def solved(a: Any, b: Any, trans: int, lower: int, diag: int) -> Any:
    """Return the solution of a triangular system."""
    return sl.solve_triangular(a, b, trans, bool(lower), bool(diag), check_finite=False)


@each_kind(blas, "trmv", into=("x",))
def trmv_for(dtype: Any) -> Any:
    def trmv(
        a: Any, x: Any, offx: int = 0, incx: int = 1, lower: int = 0, trans: int = 0, diag: int = 0
    ) -> Any:
        matrix = op(triangle(np.asarray(a, dtype), lower, diag), trans)
        result = np.array(x, dtype)
        into = elements(result, len(matrix), offx, incx)
        into[...] = matrix @ into
        return result

    return trmv


@each_kind(blas, "trsv", into=("x",))
def trsv_for(dtype: Any) -> Any:
    def trsv(
        a: Any, x: Any, incx: int = 1, offx: int = 0, lower: int = 0, trans: int = 0, diag: int = 0
    ) -> Any:
        a, result = np.asarray(a, dtype), np.array(x, dtype)
        into = elements(result, len(a), offx, incx)
        into[...] = solved(a, into, trans, lower, diag)
        return result

    return trsv
