"""Orthogonal polynomials in their argument: the derivative is one of the same kind.

DLMF 18.9.15 (Jacobi), 18.9.19 (Gegenbauer), 18.9.21 (Chebyshev), 18.9.23 (Laguerre), 18.9.25
and 18.9.27 (Hermite).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.rules.declare import elementwise, not_implemented

__all__: list[str] = []

DEGREE = not_implemented("the derivative in the degree has no closed form")
PARAMETER = not_implemented("the derivative in a parameter of the polynomial")


def lower(f: Any, n: Any, *args: Any) -> Any:
    """Return the polynomial of degree n - 1 of a kind: zero for n = 0, where SciPy may give nan."""
    constant = np.equal(n, 0)
    return np.where(constant, 0, f(np.where(constant, 1, n) - 1, *args))


def jacobi_slope(n: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the derivative of the Jacobi polynomial P_n^(a,b)."""
    return (n + a + b + 1) / 2 * lower(ss.eval_jacobi, n, a + 1.0, b + 1.0, x)


def chebyt_slope(n: Any, x: Any) -> Any:
    """Return the derivative of the Chebyshev polynomial T_n."""
    return n * lower(ss.eval_chebyu, n, x)


def chebyu_slope(n: Any, x: Any) -> Any:
    """Return the derivative of the Chebyshev polynomial U_n, which is -U_(-2-n)."""
    mirrored = np.less(n, -1)
    slope = 2 * lower(ss.eval_gegenbauer, np.where(mirrored, -2 - n, n), 2.0, x)
    return np.where(mirrored, -slope, slope)


def legendre_slope(n: Any, x: Any) -> Any:
    """Return the derivative of the Legendre polynomial P_n, which is P_(-1-n)."""
    return jacobi_slope(np.where(np.less(n, 0), -1 - n, n), 0.0, 0.0, x)


elementwise(ss.eval_legendre, DEGREE, lambda n, x, y: legendre_slope(n, x))
elementwise(ss.eval_sh_legendre, DEGREE, lambda n, x, y: 2 * legendre_slope(n, 2 * x - 1))
elementwise(
    ss.eval_jacobi, DEGREE, PARAMETER, PARAMETER, lambda n, a, b, x, y: jacobi_slope(n, a, b, x)
)
elementwise(ss.eval_gegenbauer, DEGREE, PARAMETER,
            lambda n, a, x, y: 2 * a * lower(ss.eval_gegenbauer, n, a + 1.0, x))  # fmt: skip
elementwise(ss.eval_chebyt, DEGREE, lambda n, x, y: chebyt_slope(n, x))
elementwise(ss.eval_chebyu, DEGREE, lambda n, x, y: chebyu_slope(n, x))
elementwise(ss.eval_sh_chebyt, DEGREE, lambda n, x, y: 2 * chebyt_slope(n, 2 * x - 1))
elementwise(ss.eval_sh_chebyu, DEGREE, lambda n, x, y: 2 * chebyu_slope(n, 2 * x - 1))
elementwise(ss.eval_laguerre, DEGREE, lambda n, x, y: -lower(ss.eval_genlaguerre, n, 1.0, x))
elementwise(ss.eval_genlaguerre, DEGREE, PARAMETER,
            lambda n, a, x, y: -lower(ss.eval_genlaguerre, n, a + 1.0, x))  # fmt: skip
elementwise(ss.eval_hermite, DEGREE, lambda n, x, y: 2 * n * lower(ss.eval_hermite, n, x))
elementwise(ss.eval_hermitenorm, DEGREE, lambda n, x, y: n * lower(ss.eval_hermitenorm, n, x))
