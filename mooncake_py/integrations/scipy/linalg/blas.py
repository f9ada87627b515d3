"""Wrappers of BLAS for vectors, written with the operators of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg.blas
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.wrappers import KINDS, each_kind, replaces
from mooncake_py.rules.declare import zero_derivative
from mooncake_py.rules.plain_values import derived_as

__all__ = ["elements"]

blas: Any = scipy.linalg.blas

zero_derivative(
    *(getattr(blas, f"i{kind}amax") for kind in KINDS), because="returns the place of an element"
)


def elements(v: Any, n: Any, offset: int, step: int) -> ndarray:
    """Return a view of `n` elements of a vector, or all; in reverse order for a negative step."""
    part = v[offset :: abs(step)]
    part = part if n is None else part[:n]
    return part if step > 0 else part[::-1]


def count(v: Any, n: Any, offset: int, step: int) -> int:
    """Return how many elements wrappers take: those that have a whole step, if none is given."""
    return max((len(v) - offset) // abs(step) if n is None else n, 0)


def count_forward(v: Any, n: Any, offset: int, step: int) -> int:
    """Return how many elements those take that do nothing for a negative step."""
    return count(v, n, offset, step) if step > 0 else 0


@each_kind(blas, "dot", "sd")
@each_kind(blas, "dotu", "cz")
def dot_for(dtype: Any) -> Any:
    def dot(
        x: Any, y: Any, n: Any = None, offx: int = 0, incx: int = 1, offy: int = 0, incy: int = 1
    ) -> Any:
        x, y = np.asarray(x, dtype), np.asarray(y, dtype)
        n = count(x, n, offx, incx)
        return scalar(np.dot(elements(x, n, offx, incx), elements(y, n, offy, incy)))

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
    x = np.asarray(x)
    return float(np.linalg.norm(elements(x, count(x, n, offx, incx), offx, incx)))


@derived_as(blas.sasum, blas.dasum, blas.scasum, blas.dzasum)
def asum(x: Any, n: Any = None, offx: int = 0, incx: int = 1) -> Any:
    x = np.asarray(x)
    x = elements(x, count_forward(x, n, offx, incx), offx, incx)
    return float(np.sum(np.abs(np.real(x)) + np.abs(np.imag(x))))


# Vectors that are changed in place, as far as they have the wrapper's dtype and are contiguous.


@each_kind(blas, "axpy", into=("y",), in_place=True)
def axpy_for(dtype: Any) -> Any:
    def axpy(
        x: Any, y: Any, n: Any = None, a: Any = 1.0, offx: int = 0, incx: int = 1, offy: int = 0,
        incy: int = 1,
    ) -> Any:  # fmt: skip
        """Return y + a x."""
        x, result = np.asarray(x, dtype), np.array(y, dtype)
        n = count(x, n, offx, incx)
        into = elements(result, n, offy, incy)
        into += a * elements(x, n, offx, incx)
        return result

    return axpy


def scal_for(dtype: Any) -> Any:
    def scal(a: Any, x: Any, n: Any = None, offx: int = 0, incx: int = 1) -> Any:
        """Return a x."""
        result = np.array(x, dtype)
        into = elements(result, count_forward(result, n, offx, incx), offx, incx)
        into *= a
        return result

    return scal


each_kind(blas, "scal", into=("x",), in_place=True)(scal_for)


@each_kind(blas, "copy", into=("y",), in_place=True)
def copy_for(dtype: Any) -> Any:
    def copy(
        x: Any, y: Any, n: Any = None, offx: int = 0, incx: int = 1, offy: int = 0, incy: int = 1
    ) -> Any:
        x, result = np.asarray(x, dtype), np.array(y, dtype)
        n = count(x, n, offx, incx)
        elements(result, n, offy, incy)[...] = elements(x, n, offx, incx)
        return result

    return copy


@each_kind(blas, "swap", into=("x", "y"), in_place=True)
def swap_for(dtype: Any) -> Any:
    def swap(
        x: Any, y: Any, n: Any = None, offx: int = 0, incx: int = 1, offy: int = 0, incy: int = 1
    ) -> Any:
        x, y = np.array(x, dtype), np.array(y, dtype)
        n = count(x, n, offx, incx)
        a, b = elements(x, n, offx, incx), elements(y, n, offy, incy)
        old = a.copy()
        a[...] = b
        b[...] = old
        return x, y

    return swap


def rot_for(dtype: Any) -> Any:
    def rot(
        x: Any, y: Any, c: Any, s: Any, n: Any = None, offx: int = 0, incx: int = 1, offy: int = 0,
        incy: int = 1,
    ) -> Any:  # fmt: skip
        """Turn the points (x, y) by an angle with the cosine c and the sine s."""
        x, y = np.array(x, dtype), np.array(y, dtype)
        n = len(x[offx :: abs(incx)]) if n is None else max(n, 0)
        a, b = elements(x, n, offx, incx), elements(y, n, offy, incy)
        old = a.copy()
        a[...] = c * old + s * b
        b[...] = c * b - s * old
        return x, y

    return rot


each_kind(blas, "rot", "sd", into=("x", "y"))(rot_for)

for prefix, dtype in (("cs", np.complex64), ("zd", np.complex128)):  # by real numbers
    replaces(getattr(blas, f"{prefix}scal"), dtype, into=("x",))(scal_for(dtype))
    replaces(getattr(blas, f"{prefix}rot"), dtype, into=("x", "y"))(rot_for(dtype))
