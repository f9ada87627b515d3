"""Rules for slopes and integrals of what is given on a grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import from_vjp, overlay
from mooncake_py.rules.exact_zeros import scaled
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__ = ["area", "slope"]

Pulled = tuple[Any, Callable[[Any], Any]]


def is_floating(a: Any) -> bool:
    """Return True for an array of floats or complex numbers."""
    return type(a) is ndarray and a.dtype.kind in "fc"


# Slopes: at equal distances, along one axis.

gradient_in_python = np.gradient.__wrapped__  # type: ignore[attr-defined]


@overlay(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    """Take each axis by itself where the distances are numbers."""
    if not is_floating(f) or any(np.ndim(h) or np.iscomplexobj(h) for h in varargs):
        return gradient_in_python(f, *varargs, axis=axis, edge_order=edge_order)
    if type(axis) is int:
        axes = (axis,)
    elif axis is None:
        axes = tuple(range(f.ndim))
    else:
        return gradient_in_python(f, *varargs, axis=axis, edge_order=edge_order)
    distances = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    if len(distances) != len(axes) or not axes:
        return gradient_in_python(f, *varargs, axis=axis, edge_order=edge_order)
    found = []
    for h, k in zip(distances, axes, strict=True):
        found.append(slope(f, h, axis=k, edge_order=edge_order))
    return found[0] if len(axes) == 1 else tuple(found)


def slope(f, h=1.0, *, axis=None, edge_order: Any = 1):
    """Return np.gradient of a vector, or along one axis, at distances h."""
    if np.ndim(h) or (axis is None and f.ndim != 1):
        raise TypeError("no equal distances along one axis")
    return np.gradient(f, h, axis=axis, edge_order=edge_order)


def slope_jvp(tangents, y, f, h=1.0, *, axis=None, edge_order=1) -> Any:
    """Return the slope of the tangent, and what the distance makes of it."""
    df, dh = (*tangents, None)[:2]
    total = None if df is None else slope(df, h, axis=axis, edge_order=edge_order)
    if dh is None:
        return total
    stretched = y * (-dh / h)
    return stretched if total is None else total + stretched


@from_vjp(slope, jvp=slope_jvp)
def slope_rule(f, h=1.0, *, axis=None, edge_order=1) -> Pulled:
    y = slope(f, h, axis=axis, edge_order=edge_order)
    k = 0 if axis is None else axis
    step = np.conj(h)

    def slope_pullback(dy):
        df = np.zeros(f.shape, dy.dtype)
        g, d = np.moveaxis(dy, k, 0), np.moveaxis(df, k, 0)
        inner = g[1:-1] / (2.0 * step)
        d[2:] += inner
        d[:-2] -= inner
        weights = (-1.0, 1.0) if edge_order == 1 else (-1.5, 2.0, -0.5)
        first, last = g[0] / step, g[-1] / step
        for i, w in enumerate(weights):
            d[i] += w * first
            d[-1 - i] -= w * last
        return df, lambda: -np.sum(scaled(dy, np.conj(y))) / step

    return y, slope_pullback


def is_along_axis(f, h=1.0, *, axis=None, edge_order=1) -> bool:
    """Return whether a distance is a number, and there is one axis."""
    if not are_floats(f) or type(h) not in (float, np.float64) or not h:
        return False
    return f.ndim == 1 if axis is None else type(axis) is int and -f.ndim <= axis < f.ndim


shortcut(np.gradient, accepts=is_along_axis, jvp=slope_jvp)(slope_rule)


# Integrals by trapezoids.


@overlay(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integrate arrays over a vector of places, or at equal distances."""
    places = x is None or (is_floating(x) and x.ndim == 1)
    if not (is_floating(y) and places) or np.ndim(dx) or are_broadcast(y, x, axis):
        return trapezoid_as_written(y, x, dx, axis)
    return area(y, x, dx, axis)


def are_broadcast(y, x, axis) -> bool:
    """Return whether one interval stands for several of a vector of places, or several for one."""
    if x is None or type(axis) is not int or not -y.ndim <= axis < y.ndim:
        return False
    return x.size != y.shape[axis]


trapezoid_as_written = np.trapezoid.__wrapped__  # type: ignore[attr-defined]


def area(y, x=None, dx=1.0, axis=-1):
    """Return np.trapezoid of an array."""
    if np.ndim(dx) or np.ndim(x if x is not None else 0) > 1:
        raise TypeError("no vector of places")
    return np.trapezoid(y, x, dx, axis)


def area_jvp(tangents, y, values, x=None, dx=1.0, axis=-1) -> Any:
    """Return the integral of the tangent, and that over what the places move."""
    dvalues, dplaces, ddx = (*tangents, None, None)[:3]
    terms = []
    if dvalues is not None:
        terms.append(np.trapezoid(dvalues, x, dx, axis))
    if dplaces is not None:
        terms.append(np.trapezoid(values, dplaces, axis=axis))
    if ddx is not None and x is None:
        terms.append(np.trapezoid(values, None, ddx, axis))
    return sum(terms[1:], terms[0]) if terms else None


@from_vjp(area, jvp=area_jvp)
def area_rule(y, x=None, dx=1.0, axis=-1) -> Pulled:
    total = area(y, x, dx, axis)  # first: it raises what NumPy raises
    values = np.moveaxis(y, axis, -1)

    def means() -> Any:
        return np.conj(values[..., 1:] + values[..., :-1]) / 2.0

    def area_pullback(g):
        g = np.expand_dims(g, -1)
        d = g * np.conj((dx if x is None else np.diff(x)) / 2.0)
        dy = np.zeros(y.shape, d.dtype)
        ends = np.moveaxis(dy, axis, -1)
        ends[..., 1:] += d
        ends[..., :-1] += d

        def of_distance() -> Any:
            return np.sum(scaled(g, means()))

        def of_places() -> Any:
            c = scaled(g, means())
            c = np.sum(c, axis=tuple(range(c.ndim - 1)))
            return np.concatenate((-c[:1], c[:-1] - c[1:], c[-1:]))

        return (dy, None, of_distance) if x is None else (dy, of_places, None)

    return total, area_pullback


def is_over_places(y, x=None, dx=1.0, axis=-1) -> bool:
    """Return whether an array is integrated over a vector of places, or at equal distances."""
    if not are_floats(y) or type(dx) not in (float, np.float64) or type(axis) is not int:
        return False
    if x is None:
        return bool(y.ndim)
    return bool(y.ndim) and are_floats(x) and x.ndim == 1 and not are_broadcast(y, x, axis)


shortcut(np.trapezoid, accepts=is_over_places, jvp=area_jvp)(area_rule)
