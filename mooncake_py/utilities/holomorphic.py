"""Derivatives of complex functions: Wirtinger's pair, the real Jacobian, the complex derivative.

For ``f(x + iy) = u + iv`` the pullback of 1 is ``du/dx + i du/dy`` and that of i is
``dv/dx + i dv/dy``; all functions of this module use these two.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.diagnostics.places import definition_of
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.errors import (
    NonDifferentiableArgumentError,
    NonScalarOutputError,
    NotHolomorphicError,
)
from mooncake_py.interface import vjp

__all__ = ["holomorphic_derivative", "real_jacobian", "wirtinger_derivatives"]


NUMBERS = (float, complex, np.inexact)


def wirtinger_derivatives(f: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, Any]]:
    """Return a function that computes both Wirtinger derivatives, df/dz and df/dz*.

    Parameters
    ----------
    f : callable
        Function from a complex number to a number; from an array to an array, element by element;
        or from an array to a number.

    Returns
    -------
    callable
        Function from a point to ``(df/dz, df/dz*)``, each of the shape of the point.

    Raises
    ------
    NonScalarOutputError
        If `f` maps an array to an array, but not element by element.

    Notes
    -----
    df/dz = (df/dx - i df/dy) / 2 and df/dz* = (df/dx + i df/dy) / 2; the second is zero if `f` is
    holomorphic.  To first order, df = (df/dz) dz + (df/dz*) dz*.

    Examples
    --------
    >>> from mooncake_py import wirtinger_derivatives
    >>> wirtinger_derivatives(lambda z: 3 * z**2 + 2 * z + 1)(1 + 2j)
    ((8+12j), 0j)
    >>> wirtinger_derivatives(lambda z: z * z.conjugate())(1 + 2j)
    ((1-2j), (1+2j))
    """
    return from_slopes(f, lambda z, du, dv: wirtinger_pair(du, dv))


def real_jacobian(f: Callable[[Any], Any]) -> Callable[[Any], ndarray]:
    """Return a function that computes the real Jacobian of a complex function.

    Parameters
    ----------
    f : callable
        As for :func:`wirtinger_derivatives`.

    Returns
    -------
    callable
        Function from a point to ``[[du/dx, du/dy], [dv/dx, dv/dy]]``, with f = u + iv; for an array
        each of the four entries has its shape.

    Examples
    --------
    >>> from mooncake_py import real_jacobian
    >>> real_jacobian(lambda z: z.conjugate() ** 2)(1 + 2j)
    array([[ 2., -4.],
           [-4., -2.]])
    """

    def jacobian(z: Any, du: Any, dv: Any) -> ndarray:
        return np.array([[np.real(du), np.imag(du)], [np.real(dv), np.imag(dv)]])

    return from_slopes(f, jacobian)


def holomorphic_derivative(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that computes the complex derivative df/dz, if it exists.

    Parameters
    ----------
    f : callable
        As for :func:`wirtinger_derivatives`.

    Returns
    -------
    callable
        Function from a point to df/dz, of the shape of the point.

    Raises
    ------
    NotHolomorphicError
        If the Cauchy-Riemann equations do not hold at the point to half of the digits.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import holomorphic_derivative
    >>> holomorphic_derivative(lambda z: z**3)(2j)
    (-12+0j)
    """

    def derivative(z: Any, du: Any, dv: Any) -> Any:
        dz, dzbar = wirtinger_pair(du, dv)
        require_cauchy_riemann(f, z, du, dv, dzbar)
        return dz

    return from_slopes(f, derivative)


def from_slopes(f: Callable[[Any], Any], result: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return the function of a point ``z`` that computes ``result(z, *slopes(f, z))``."""

    @functools.wraps(f)
    def at(z: Any) -> Any:
        with boundary:
            return result(z, *slopes(f, z))

    return at


def slopes(f: Callable[[Any], Any], z: Any) -> tuple[Any, Any]:
    """Return ``du/dx + i du/dy`` and ``dv/dx + i dv/dy`` of ``f = u + iv``."""
    z = complex_point(f, z)
    y, pullback = vjp(f, z)
    ones = cotangent_of_sum(f, y, z)
    (du,) = pullback(ones)
    (dv,) = pullback(1j * ones) if np.iscomplexobj(y) else (np.zeros_like(du)[()],)
    if np.ndim(z) and np.ndim(y):
        require_elementwise(f, y, pullback, du, dv)
    return du, dv


def complex_point(f: Callable[[Any], Any], z: Any) -> Any:
    """Return a point as a complex number or array."""
    numeric = z.dtype.kind in "fc" if issubclass(type(z), ndarray) else isinstance(z, NUMBERS)
    if not numeric:
        raise NonDifferentiableArgumentError(
            f"cannot take a complex derivative of {name_of(f)} at a value of type "
            f"{type(z).__name__}",
            why="only float and complex values have derivatives",
            fix="pass a complex number, or a complex array: z.astype(complex)",
        )
    return z + 0j


def cotangent_of_sum(f: Callable[[Any], Any], y: Any, z: Any) -> Any:
    """Return the cotangent of the sum of the outputs, after a check of the output's shape."""
    if np.ndim(y) and np.shape(y) != np.shape(z):
        raise NonScalarOutputError(
            f"{name_of(f)} returned shape {np.shape(y)} for shape {np.shape(z)}",
            where=definition_of(f),
            why="complex derivatives are those of one number, or of an array element by element",
            fix="pick one element of the output: lambda z: f(z)[i]",
        )
    return np.ones(np.shape(y)) if np.ndim(y) else 1.0


def require_elementwise(
    f: Callable[[Any], Any], y: Any, pullback: Callable[[Any], Any], du: Any, dv: Any
) -> None:
    """Raise if an element of the output depends on another element of the input.

    For random real weights w, the pullback of w is ``w * du`` element by element exactly if the
    Jacobian of u is diagonal, up to an event of probability zero; also for v.
    """
    weights = np.random.default_rng(0).uniform(1.0, 2.0, np.shape(y))
    for unit, slope in ((1.0, du), (1j, dv)) if np.iscomplexobj(y) else ((1.0, du),):
        (weighted,) = pullback(unit * weights)
        tolerance = rounding(slope) * np.max(np.abs(slope), initial=0.0)
        if not np.allclose(
            weighted, weights * slope, rtol=rounding(slope), atol=tolerance, equal_nan=True
        ):
            raise NonScalarOutputError(
                f"{name_of(f)} does not act element by element",
                where=definition_of(f),
                why="an element of its output depends on another element of its input",
                fix="pick one element of the output: lambda z: f(z)[i]",
            )


def wirtinger_pair(du: Any, dv: Any) -> tuple[Any, Any]:
    """Return df/dz and df/dz* from the slopes of u and v."""
    return (du.conjugate() + 1j * dv.conjugate()) / 2, (du + 1j * dv) / 2


def require_cauchy_riemann(f: Any, z: Any, du: Any, dv: Any, dzbar: Any) -> None:
    """Raise if a derivative with respect to the conjugate is not zero up to rounding."""
    holds = np.abs(dzbar) <= rounding(du) * (np.abs(du) + np.abs(dv))
    if np.all(holds):
        return
    index = tuple(map(int, np.argwhere(~holds)[0])) if np.ndim(z) else ()
    at, a, b, bar = (np.asarray(part)[index].item() for part in (z, du, dv, dzbar))
    place = f"z[{', '.join(map(str, index))}]" if index else "z"
    raise NotHolomorphicError(
        f"{name_of(f)} has no complex derivative at {place} = {at:.6g}: df/dz* = {bar:.6g}, not 0",
        where=definition_of(f),
        why="the Cauchy-Riemann equations do not hold: "
        f"du/dx = {a.real:.6g} and dv/dy = {b.imag:.6g},\n"
        f"du/dy = {a.imag:.6g} and -dv/dx = {0 - b.real:.6g}",
        fix="use wirtinger_derivatives; conjugates, real and imaginary parts and absolute values "
        "are not\nholomorphic",
    )


def rounding(slope: Any) -> float:
    """Return the relative error that counts as rounding: half of the digits."""
    return float(np.sqrt(np.finfo(getattr(slope, "dtype", complex)).eps))
