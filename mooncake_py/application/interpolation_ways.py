"""Interpolation at one place, which two nodes of the function decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.structural_ways import PLAIN, serve_array
from mooncake_py.errors import MooncakeError
from mooncake_py.rules.interpolation import interpolated
from mooncake_py.runtime.active import REAL_SCALARS, Active
from mooncake_py.runtime.sites import DECLINED
from mooncake_py.runtime.values import FLOAT64

__all__ = ["serve_interp"]

Place = tuple[int, int, int, float, float]
"""The side (-1 and 1 beyond the ends, 2 for nan), the nodes around, the share, the slope."""


def serve_interp(C: Any, x: Any, xp: Any, fp: Any) -> Any:
    """Interpolate by `np.interp` at a number, or at an array of them."""
    node, value = None, x
    if type(x) is Active:
        if x.context is not C:
            return DECLINED
        node, value = x, x.primal
    places = as_vector(C, xp)
    if places is None or not places.size or not places[0] <= places[-1]:
        return DECLINED
    if type(value) not in REAL_SCALARS:
        return serve_array_of_places(C, x, places, fp)
    values = as_vector(C, fp)
    if values is None or values.size != places.size:
        return DECLINED
    y = np.interp(value, places, values)
    of_xp, of_fp = C.find(places), C.find(values)
    if node is None and of_xp is None and of_fp is None:
        return y
    place = place_of(float(value), places, values)
    if not place[0] and not is_found(y, float(value), place, places, values):
        return DECLINED
    if of_xp is None and of_fp is None:
        return C.record_slope(y, node, 0.0 if place[0] else place[4])
    return C.record_interpolated(y, node, places, of_xp, values, of_fp, place)


def as_vector(C: Any, value: Any) -> ndarray | None:
    """Return a vector of float64, also of a sequence of numbers; None for anything else."""
    t = type(value)
    if (t is list or t is tuple) and value:
        if not PLAIN.issuperset(map(type, value)):
            value = serve_array(C, value)
        else:
            value = np.array(value, np.float64)
    if type(value) is not ndarray or value.dtype is not FLOAT64 or value.ndim != 1:
        return None
    return value


def serve_array_of_places(C: Any, x: Any, xp: ndarray, fp: Any) -> Any:
    """Apply the rule to an array of places, skipping the conversion of other arguments to these."""
    values = as_vector(C, fp)
    if type(x) is not ndarray or x.dtype is not FLOAT64 or values is None:
        return DECLINED
    try:
        return C.call_in_general(interpolated, x, xp, values, None, None)
    except MooncakeError:
        raise
    except Exception:
        return DECLINED  # raised again, in the general way


def is_found(y: Any, x: float, place: Place, xp: ndarray, fp: ndarray) -> bool:
    """Return whether an interpolation is that between two nodes: it need not be if xp is unsorted.

    In NumPy's operations, so that the numbers are the same.
    """
    _, k, after, _, slope = place
    at = k if x < xp.item(after) or k == after else after  # NumPy begins at the last node itself
    return y == slope * (x - xp.item(at)) + fp.item(at)


def place_of(x: float, xp: ndarray, fp: ndarray) -> Place:
    """Return where a number is among the nodes; at a node the slope is that to its right."""
    n = xp.size
    k = min(max(int(xp.searchsorted(x, "right")) - 1, 0), max(n - 2, 0))
    after = min(k + 1, n - 1)
    first, last = xp.item(0), xp.item(n - 1)
    start, stop = xp.item(k), xp.item(after)
    width = stop - start if stop > start else math.inf
    is_inside = first <= x <= last
    t = 0.0 if not is_inside else 1.0 if start == stop else (x - start) / width
    side = 0 if is_inside else -1 if x < first else 1 if x > last else 2
    return side, k, after, t, (fp.item(after) - fp.item(k)) / width
