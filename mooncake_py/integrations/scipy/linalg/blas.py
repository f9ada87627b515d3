"""Wrappers of BLAS, written with the operators of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg.blas

from mooncake_py.integrations.scipy.linalg.wrappers import each_kind, returned
from mooncake_py.rules.plain_values import derived_as

__all__: list[str] = []

blas: Any = scipy.linalg.blas


def op(a: Any, trans: int, dtype: Any) -> Any:
    """Return the matrix, its transpose or its adjoint."""
    a = np.asarray(a, dtype)
    return a if trans == 0 else np.transpose(a) if trans == 1 else np.conj(a).T


@each_kind(blas, "gemm")
def gemm_for(dtype: Any) -> Any:
    def gemm(
        alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans_a: int = 0,
        trans_b: int = 0, overwrite_c: int = 0,
    ) -> Any:  # fmt: skip
        product = alpha * (op(a, trans_a, dtype) @ op(b, trans_b, dtype))
        if c is not None:
            product = product + beta * np.asarray(c, dtype)
        return returned(product, c, overwrite_c, dtype)

    return gemm


@each_kind(blas, "gemv")
def gemv_for(dtype: Any) -> Any:
    def gemv(
        alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, offx: int = 0, incx: int = 1,
        offy: int = 0, incy: int = 1, trans: int = 0, overwrite_y: int = 0,
    ) -> Any:  # fmt: skip
        matrix = op(a, trans, dtype)
        product = alpha * (matrix @ np.asarray(x, dtype)[offx::incx][: matrix.shape[1]])
        if y is None:
            return product
        result = np.array(y, dtype)
        places = slice(offy, offy + incy * len(product), incy)
        result[places] = beta * result[places] + product
        return returned(result, y, overwrite_y, dtype)

    return gemv


@each_kind(blas, "dot", "sd")
@each_kind(blas, "dotu", "cz")
def dot_for(dtype: Any) -> Any:
    def dot(
        x: Any, y: Any, n: Any = None, offx: int = 0, incx: int = 1, offy: int = 0, incy: int = 1
    ) -> Any:
        x, y = np.asarray(x, dtype)[offx::incx], np.asarray(y, dtype)[offy::incy]
        count = min(len(x), len(y)) if n is None else n
        return scalar(np.dot(x[:count], y[:count]))

    return dot


@each_kind(blas, "dotc", "cz")
def dotc_for(dtype: Any) -> Any:
    dot = dot_for(dtype)

    def dotc(
        x: Any, y: Any, n: Any = None, offx: int = 0, incx: int = 1, offy: int = 0, incy: int = 1
    ) -> Any:
        return dot(np.conj(x), y, n, offx, incx, offy, incy)

    return dotc


def scalar(total: Any) -> Any:
    """Return a number of Python, as wrappers do."""
    return complex(total) if np.iscomplexobj(total) else float(total)


@derived_as(blas.snrm2, blas.dnrm2, blas.scnrm2, blas.dznrm2)
def nrm2(x: Any, n: Any = None, offx: int = 0, incx: int = 1) -> Any:
    x = np.asarray(x)[offx::incx]
    return float(np.linalg.norm(x if n is None else x[:n]))
