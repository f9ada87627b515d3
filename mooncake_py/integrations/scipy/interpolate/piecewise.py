"""Rules for `scipy.interpolate`: piecewise polynomials, and so cubic splines, PCHIP and Akima.

Their coefficients are computed in Python, which is derived.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.interpolate as si
import scipy.interpolate._interpolate as plain
from numpy import ndarray

from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, overlay, zero_derivative
from mooncake_py.rules.exact_zeros import scaled
from mooncake_py.rules.plain_values import derived_as_writer
from mooncake_py.rules.sources import without_rule

__all__: list[str] = []

original: Any = si.PPoly.__call__
call_in_python = without_rule(original)


@overlay(original)
def evaluate(self: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """Evaluate; polynomials in other bases have the same method."""
    if not isinstance(self, si.PPoly):
        return call_in_python(self, x, nu, extrapolate)
    if extrapolate is None:
        extrapolate = self.extrapolate
    points = np.asarray(x).astype(np.float64)  # of complex numbers with a warning
    if extrapolate == "periodic":
        points = self.x[0] + (points - self.x[0]) % (self.x[-1] - self.x[0])
        extrapolate = False
    y = evaluated(self.c, self.x, points.ravel(), nu, bool(extrapolate))
    y = y.reshape(points.shape + self.c.shape[2:])
    if self.axis == 0:
        return y
    order, first = list(range(y.ndim)), points.ndim
    last = first + self.axis
    return y.transpose(order[first:last] + order[:first] + order[last:])


def evaluated(c: Any, x: Any, points: Any, nu: int, extrapolate: bool) -> ndarray:
    """Return the derivative of order `nu` at points in one line."""
    return si.PPoly.construct_fast(c, x, extrapolate)(points, nu)


@from_vjp(evaluated)
def evaluated_rule(c: Any, x: Any, points: Any, nu: int, extrapolate: bool) -> tuple[Any, Any]:
    """Differentiate y = sum_j c[j, i] s^(k - 1 - j) with s = point - x[i] in interval i."""
    y = evaluated(c, x, points, nu, extrapolate)

    def evaluated_pullback(dy: ndarray) -> tuple[Any, ...]:
        inside = np.isfinite(points)
        if not extrapolate:
            inside &= (points >= min(x[0], x[-1])) & (points <= max(x[0], x[-1]))
        dy = np.where(inside.reshape(-1, *[1] * (dy.ndim - 1)), dy, 0)
        i = interval(x, points)
        s = np.where(inside, points - x[i], 0)
        dc = np.zeros(c.shape, np.result_type(dy, s))
        for exponent in range(nu, len(c)):
            power = math.perm(exponent, nu) * s ** (exponent - nu)
            np.add.at(dc[len(c) - 1 - exponent], i, (dy.T * power).T)
        slope = conj(evaluated(c, x, points, nu + 1, extrapolate))
        products = scaled(dy, slope)
        dpoints = np.real(products).sum(axis=tuple(range(1, products.ndim)))
        dx = np.zeros(len(x))
        np.subtract.at(dx, i, dpoints)
        return dc, dx, dpoints

    return y, evaluated_pullback


def interval(x: ndarray, points: ndarray) -> ndarray:
    """Return the number of the interval of each point; the outer ones reach beyond the ends."""
    if x[-1] < x[0]:
        x, points = -x, -points
    return np.clip(np.searchsorted(x, points, side="right") - 1, 0, len(x) - 2)


compiled: Any = getattr(plain, "_ppoly", None)


def integrate(c: Any, x: Any, a: Any, b: Any, extrapolate: bool, out: Any) -> None:
    """Write the integral of polynomials with trailing axes in one line."""
    first, last = sorted((x[0], x[-1]))
    beyond = not extrapolate and not (first <= a <= last and first <= b <= last)
    out[...] = np.nan if beyond else integral(c, x, a, b)


def integral(c: Any, x: Any, a: Any, b: Any) -> Any:
    """Add up the integrals over parts of intervals."""
    start, end = interval(x, np.array([a, b]))
    if start > end:
        return -integral(c, x, b, a)
    inner = x[start + 1 : end + 1]
    left = x[start : end + 1]
    low = np.concatenate([np.reshape(a, 1), inner]) - left
    high = np.concatenate([inner, np.reshape(b, 1)]) - left
    powers = np.arange(len(c), 0, -1)[:, None]
    return np.einsum("ki,kij->j", (high**powers - low**powers) / powers, c[:, start : end + 1])


zero_derivative(interval, because="returns indices")
if hasattr(compiled, "integrate"):
    derived_as_writer(compiled.integrate, 5)(integrate)
