"""Rules for `scipy.signal`: convolutions, and recursive filters.

A filter solves a * y = b * x, with convolutions; the adjoint runs backwards in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as sg
from numpy import ndarray

from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, not_implemented, overlay
from mooncake_py.rules.sources import without_rule

__all__: list[str] = []


# Convolutions.


def spread(dy: ndarray, a: ndarray, b: ndarray, mode: str) -> ndarray:
    """Return the cotangent of the full convolution that an output is a part of."""
    dy = np.asarray(dy)  # a number for two numbers
    full = np.zeros([n + m - 1 for n, m in zip(a.shape, b.shape, strict=True)], dy.dtype)
    starts = {
        "full": [0] * dy.ndim,
        "same": [(n - k) // 2 for n, k in zip(full.shape, dy.shape, strict=True)],
        "valid": [min(n, m) - 1 for n, m in zip(a.shape, b.shape, strict=True)],
    }[mode]
    full[tuple(slice(i, i + n) for i, n in zip(starts, dy.shape, strict=True))] = dy
    return full


def cotangents(dy: ndarray, a: ndarray, b: ndarray, mode: str) -> tuple[ndarray, ndarray]:
    """Return those of both factors: correlations of that of the full convolution."""
    full = spread(dy, a, b, mode)
    return sg.correlate(full, b, "valid"), sg.correlate(full, a, "valid")


def convolution(function: Any) -> None:
    """Declare a function that convolves all axes."""

    @from_vjp(function)
    def rule(in1: Any, in2: Any, mode: str = "full", *rest: Any, **options: Any) -> Any:
        a, b = np.asarray(in1), np.asarray(in2)
        y = function(a, b, mode, *rest, **options)

        def pullback(dy: ndarray) -> Any:
            if rest or options.get("axes") is not None:
                return SOME_AXES, SOME_AXES
            if not np.any(dy):
                return None, None
            return cotangents(dy, a, b, mode)

        return y, pullback


SOME_AXES = not_implemented("only for all axes, with the other options given by keyword")

convolution(sg.convolve)
convolution(sg.fftconvolve)
convolution(sg.oaconvolve)


@from_vjp(sg.correlate)
def correlate_rule(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """Use the convolution with the second array reversed and conjugated."""
    a, b = np.asarray(in1), np.asarray(in2)
    y = sg.correlate(a, b, mode, method)

    def correlate_pullback(dy: ndarray) -> Any:
        if not np.any(dy):
            return None, None
        da, reversed_db = cotangents(dy, a, conj(np.flip(b)), mode)
        return da, conj(np.flip(reversed_db))

    return y, correlate_pullback


# Filters.


@from_vjp(sg.lfilter)
def lfilter_rule(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Differentiate b * x + z_i = a * y + z_f, with a_0 = 1 and states z_i and z_f.

    All arrays are zero beyond the ends.
    The cotangent g of both sides is that of z_f beyond the end; before it a * g = dy, backwards.
    """
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.asarray(x)
    result: Any = sg.lfilter(b, a, x, axis, zi)

    def lfilter_pullback(dys: Any) -> Any:
        y, dy, dzf = (result, dys, None) if zi is None else (result[0], *dys)
        lead, order = a[0], max(len(a), len(b)) - 1
        b1, a1 = (np.pad(c / lead, (0, order + 1 - len(c))) for c in (b, a))
        dy = np.zeros_like(y) if dy is None else dy
        xs, ys, dy = (np.moveaxis(v, axis, -1) for v in (x, y, dy))
        n = xs.shape[-1]
        tail = np.zeros((*xs.shape[:-1], order), dy.dtype)
        if dzf is not None:
            tail = np.moveaxis(dzf, axis, -1)
        driven = sg.lfilter(conj(a1), 1.0, tail[..., ::-1]) if order else tail
        drive = np.concatenate([driven, dy[..., ::-1]], axis=-1)
        backwards: Any = sg.lfilter(np.ones(1), conj(a1), drive)
        g = backwards[..., ::-1]
        dx: Any = sum(c * g[..., k : k + n] for k, c in enumerate(conj(b1)))
        later = [g[..., k : k + n] for k in range(order + 1)]
        db, da = (np.array([np.vdot(v, w) for w in later]) for v in (xs, np.negative(ys)))
        rest: Any = np.vdot(b1, db) + np.vdot(a1[1:], da[1:])
        da[0] = -rest  # only the ratios to a_0 matter
        scale = conj(lead)
        dzi = None if zi is None else np.moveaxis(g[..., :order], -1, axis)
        return db[: len(b)] / scale, da[: len(a)] / scale, np.moveaxis(dx, -1, axis), None, dzi

    return result, lfilter_pullback


lfilter_zi_in_python, lfiltic_in_python = without_rule(sg.lfilter_zi), without_rule(sg.lfiltic)


# Both divide by a_0 unless it is 1, which loses a derivative: here they divide then.


def leading(a: Any) -> Any:
    """Return a_0, behind leading zeros."""
    while len(a) > 1 and a[0] == 0:
        a = a[1:]
    return a[0]


@overlay(sg.lfilter_zi)
def lfilter_zi(b: Any, a: Any) -> Any:
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    if divides(b, a):
        b, a = b / leading(a), a / leading(a)
    return lfilter_zi_in_python(b, a)


@overlay(sg.lfiltic)
def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    zi = lfiltic_in_python(b, a, y, x)
    a = np.atleast_1d(a)
    return zi / leading(a) if divides(zi, a) else zi


def divides(b: Any, a: Any) -> bool:
    """Return whether numbers are to be divided by a_0, which is 1."""
    are_numbers = "O" not in (b.dtype.kind, a.dtype.kind)
    return are_numbers and a.ndim == 1 and len(a) > 0 and leading(a) == 1


detrend_in_python = without_rule(sg.detrend)


@overlay(sg.detrend)
def detrend(
    data: Any, axis: int = -1, type: Any = "linear", bp: Any = 0, overwrite_data: bool = False
) -> Any:
    if overwrite_data:  # the result is written into the data, if their layout allows it
        return detrend_in_python(data, axis, type, bp, True)
    return without_trend(data, axis, type, bp)


def without_trend(data: Any, axis: int, type: Any, bp: Any) -> Any:
    """Return data less their trend."""
    return sg.detrend(data, axis, type, bp)


@from_vjp(without_trend)
def without_trend_rule(data: Any, axis: int, type: Any, bp: Any) -> Any:
    """Take the trend out of the cotangent too: that is an orthogonal projection."""
    return sg.detrend(data, axis, type, bp), lambda dy: (sg.detrend(dy, axis, type, bp),)


@from_vjp(sg.sosfilt)
def sosfilt_rule(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Differentiate one section after the other, each a filter of second order."""
    sos, x = np.asarray(sos), np.asarray(x)
    result: Any = sg.sosfilt(sos, x, axis, zi)

    def sosfilt_pullback(dys: Any) -> Any:
        dy, dzf = (dys, None) if zi is None else dys
        signal, pullbacks = x, []
        for k, section in enumerate(sos):
            state = None if zi is None else np.asarray(zi)[k]
            found, pullback = lfilter_rule(section[:3], section[3:], signal, axis, state)
            signal = found if zi is None else found[0]
            pullbacks.append(pullback)
        dy = np.zeros_like(signal) if dy is None else dy
        dsos = np.zeros((len(sos), 6), np.result_type(dy, sos))
        dstates: list[Any] = [None] * len(sos)
        for k in range(len(sos))[::-1]:
            below = dy if zi is None else (dy, None if dzf is None else dzf[k])
            db, da, dy, _, dstates[k] = pullbacks[k](below)
            dsos[k] = np.concatenate([db, da])
        return dsos, dy, None, None if zi is None else np.stack(dstates)

    return result, sosfilt_pullback
