"""Rules for the parts of a complex number and for functions that are not holomorphic.

The gradient of a real loss is dL/dx + i dL/dy.  With Wirtinger derivatives the cotangent of z is
``conj(dy/dz) g + (dy/dzbar) conj(g)``; see W. Wirtinger (1927) and, for this use, K. Kreutz-
Delgado, "The complex gradient operator and the CR-calculus", arXiv:0906.4835.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from mooncake_py.rules.declare import elementwise, linear
from mooncake_py.rules.holomorphic import wirtinger

__all__ = ["complex_number", "scalar_absolute_partial"]


def complex_number(real: Any = 0.0, imag: Any = 0.0) -> complex:
    """Return ``complex(real, imag)``; ``real + 1j * imag`` is nan where one is infinite."""
    return complex(real, imag)


def direction(x: Any) -> Any:
    """Return ``np.sign(x)`` of complex x, in a third of the time where all is finite."""
    size = np.abs(x)
    y = x / np.where(size == 0, np.inf, size)
    return y if np.isfinite(y).all() else np.sign(x)


def absolute_partial(x: Any, y: Any) -> Any:
    """Return the direction of x, 0 at 0; for complex x half of it to each Wirtinger derivative."""
    if np.iscomplexobj(x):
        half = direction(x) * 0.5
        return wirtinger(np.conj(half), half)
    return np.sign(x)


def scalar_absolute_partial(x: Any, y: Any) -> Any:
    """Return the same for Python scalars, quickly; also for arrays."""
    if isinstance(x, np.ndarray):
        return absolute_partial(x, y)
    if not y:
        return 0.0
    if isinstance(x, (complex, np.complexfloating)):
        half = x / y * 0.5  # 2 * y may overflow
        return wirtinger(half.conjugate(), half)
    one = math.copysign(1.0, x)
    return type(x)(one) if type(x) is np.longdouble else one


def sign_partial(x: Any, y: Any) -> Any:
    """Return 0 for real x; for complex x differentiate x / |x| (0 at 0)."""
    if not np.iscomplexobj(x):
        return 0
    half = 0.5 / np.where(x == 0, np.inf, np.abs(x))
    return wirtinger(half, -y * y * half)


# Functions that are not holomorphic.

elementwise(np.conjugate, wirtinger(0, 1))
elementwise(complex.conjugate, wirtinger(0, 1))
elementwise(float.conjugate, 1)
elementwise(np.absolute, absolute_partial)
elementwise(abs, scalar_absolute_partial)
elementwise(operator.abs, scalar_absolute_partial)
elementwise(np.sign, sign_partial)
elementwise(direction, sign_partial)
elementwise(complex_number, 1, 1j)

# Linear maps (over the reals).


@linear(np.ndarray.conj, np.ndarray.conjugate)
def conjugate_adjoint(dy, x, /):
    """Conjugate."""
    return np.conjugate(dy)


@linear(np.real)
def real_adjoint(dy, val):
    """Return a cotangent without imaginary part."""
    return dy


@linear(np.imag)
def imag_adjoint(dy, val):
    """Return a cotangent without real part, so zero for a real argument."""
    return 1j * dy
