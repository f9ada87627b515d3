"""Wrappers of BLAS that change nothing, written with the operators of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg.blas

from mooncake_py.rules.declare import overlay

__all__: list[str] = []

blas: Any = scipy.linalg.blas


def op(a: Any, trans: int) -> Any:
    """Return the matrix, its transpose or its adjoint."""
    return np.asarray(a) if trans == 0 else np.transpose(a) if trans == 1 else np.conj(a).T


@overlay(*(getattr(blas, f"{kind}gemm") for kind in "sdcz"))
def gemm(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans_a: int = 0,
    trans_b: int = 0, overwrite_c: int = 0,
) -> Any:  # fmt: skip
    product = alpha * (op(a, trans_a) @ op(b, trans_b))
    return product if c is None else product + beta * np.asarray(c)


@overlay(*(getattr(blas, f"{kind}gemv") for kind in "sdcz"))
def gemv(
    alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, offx: int = 0, incx: int = 1,
    offy: int = 0, incy: int = 1, trans: int = 0, overwrite_y: int = 0,
) -> Any:  # fmt: skip
    matrix = op(a, trans)
    product = alpha * (matrix @ np.asarray(x)[offx::incx][: matrix.shape[1]])
    if y is None:
        return product
    result = np.array(y)
    places = slice(offy, offy + incy * len(product), incy)
    result[places] = beta * result[places] + product
    return result


def product_of(x: Any, y: Any, n: Any, offx: int, incx: int, offy: int, incy: int) -> Any:
    """Return a sum of products; `n` is how many, all if it is None."""
    x, y = np.asarray(x)[offx::incx], np.asarray(y)[offy::incy]
    count = min(len(x), len(y)) if n is None else n
    total = np.dot(x[:count], y[:count])
    return complex(total) if np.iscomplexobj(total) else float(total)


@overlay(blas.sdot, blas.ddot, blas.cdotu, blas.zdotu)
def dot(
    x: Any, y: Any, n: Any = None, offx: int = 0, incx: int = 1, offy: int = 0, incy: int = 1
) -> Any:
    return product_of(x, y, n, offx, incx, offy, incy)


@overlay(blas.cdotc, blas.zdotc)
def dotc(
    x: Any, y: Any, n: Any = None, offx: int = 0, incx: int = 1, offy: int = 0, incy: int = 1
) -> Any:
    return product_of(np.conj(x), y, n, offx, incx, offy, incy)


@overlay(blas.snrm2, blas.dnrm2, blas.scnrm2, blas.dznrm2)
def nrm2(x: Any, n: Any = None, offx: int = 0, incx: int = 1) -> Any:
    x = np.asarray(x)[offx::incx]
    return float(np.linalg.norm(x if n is None else x[:n]))
