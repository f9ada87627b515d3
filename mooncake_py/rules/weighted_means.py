"""Averages with weights, covariances and correlations, which NumPy writes in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import Result, keep, spread
from mooncake_py.rules.no_value import NoValue
from mooncake_py.rules.sequences import distribute
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__: list[str] = []


# Averages.


def averages(a, axis=None, weights=None, returned=False, *, keepdims=NoValue) -> bool:
    """Return whether the weights are those of each element, or none."""
    if (
        not are_floats(a)
        or not a.size
        or returned is not False
        or not (axis is None or type(axis) is int)
    ):
        return False
    if weights is None:
        return True
    w = np.asarray(weights)
    return w.shape == a.shape and w.dtype.kind in "fiu"


def average_jvp(
    tangents, y, a, axis=None, weights=None, returned=False, *, keepdims=NoValue
) -> Any:
    """Return the average of the tangents, and what the weights move."""
    da: Any
    da, _, dweights = (*tangents, None, None)[:3]
    kept = keepdims is not NoValue and bool(keepdims)
    if weights is None:
        return np.mean(da, axis, keepdims=kept)
    weights = np.asarray(weights)
    terms = 0 if da is None else da * weights
    if dweights is not None:
        terms = terms + (a - keep(y, axis, a.shape)) * dweights
    return np.sum(terms, axis, keepdims=kept) / np.sum(weights, axis, keepdims=kept)


@shortcut(np.average, accepts=averages, jvp=average_jvp, wrt=(0, 2))
def average_rule(a, axis=None, weights=None, returned: Any = False, *, keepdims=NoValue) -> Result:
    y = np.average(a, axis, weights, returned, keepdims=keepdims)

    def average_pullback(dy):
        if weights is None:
            return spread(dy / (a.size // np.size(dy)), axis, a.shape)
        w = np.asarray(weights)
        share = keep(dy, axis, a.shape) / np.sum(w, axis, keepdims=True)

        def of_weights() -> Any:
            return distribute(share * (a - keep(y, axis, a.shape)), weights)

        return share * w, None, of_weights

    return y, average_pullback


# Covariances: C = X X^T / f, with X the rows of observations about their means.


def covariances(m, y=None, rowvar=True, bias=False, ddof=None, *more, dtype=None) -> bool:
    """Return whether the observations are not weighted."""
    if dtype is not None or any(w is not None for w in more) or len(more) > 2:
        return False
    if y is not None and not (are_floats(y) and y.ndim == np.ndim(m) == 1):
        return False
    if not (are_floats(m) and m.ndim in (1, 2) and m.size > 1 and type(rowvar) is bool):
        return False
    return freedom(rows_of(m, y, rowvar), bias, ddof) > 0  # else NumPy warns


def rows_of(m: Any, y: Any, rowvar: bool) -> ndarray:
    """Return the variables as rows, at least in double precision, as NumPy computes."""
    if y is not None:
        return np.stack([m, y], dtype=np.result_type(m, y, np.float64))
    x = m[None] if m.ndim == 1 else m if rowvar else m.T
    return np.asarray(x, np.result_type(m, np.float64))


def as_arguments(dx: ndarray, m: ndarray, y: Any, rowvar: bool) -> tuple[Any, Any]:
    """Return the cotangents of the arguments for that of the rows."""
    if y is not None:
        return dx[0], dx[1]
    return dx[0] if m.ndim == 1 else dx if rowvar else dx.T, None


def moved_rows(tangents: Any, m: ndarray, y: Any, rowvar: bool) -> ndarray:
    """Return the tangents of the rows, about their means."""
    dm, dy = (*tangents, None)[:2]
    if y is not None:
        dm, dy = (np.zeros_like(m) if t is None else t for t in (dm, dy))
    return about_mean(rows_of(dm, dy, rowvar))


def about_mean(x: ndarray) -> ndarray:
    """Return rows less their means."""
    return x - x.mean(1, keepdims=True)


def cov_jvp(tangents, c, m, y=None, rowvar=True, bias=False, ddof=None, *more, dtype=None) -> Any:
    """Return (dX X^T + X dX^T) / f."""
    x = about_mean(rows_of(m, y, rowvar))
    half = moved_rows(tangents, m, y, rowvar) @ x.T / freedom(x, bias, ddof)
    return np.reshape(half + half.T, np.shape(c))


def freedom(x: ndarray, bias: Any, ddof: Any) -> Any:
    """Return NumPy's divisor: the number of observations less the degrees of freedom."""
    return x.shape[1] - ((0 if bias else 1) if ddof is None else ddof)


@shortcut(np.cov, accepts=covariances, jvp=cov_jvp, wrt=(0, 1))
def cov_rule(m, y=None, rowvar=True, bias=False, ddof=None, *more, dtype=None) -> Result:
    c = np.cov(m, y, rowvar, bias, ddof, *more, dtype=dtype)

    def cov_pullback(dc):
        x = about_mean(rows_of(m, y, rowvar))
        g = np.reshape(dc, (len(x), len(x)))
        dx = (g + g.T) @ x / freedom(x, bias, ddof)
        return as_arguments(dx, m, y, rowvar)

    return c, cov_pullback


# Correlations: R = Z Z^T, with Z the rows of X divided by their lengths.


def correlations(x, y=None, rowvar=True, *, dtype=None) -> bool:
    """Return whether there are several variables, and none are proportional: NumPy clips there."""
    if not covariances(x, y, rowvar, dtype=dtype):
        return False
    z = scaled_rows(rows_of(x, y, rowvar))[0]
    r = np.abs(z @ z.T)
    return len(r) > 1 and bool((r - np.eye(len(r), dtype=r.dtype) < 1 - 1e-4).all())


def scaled_rows(x: ndarray) -> tuple[ndarray, ndarray]:
    """Return the rows about their means, divided by their lengths, and these."""
    x = about_mean(x)
    lengths = np.sqrt(np.sum(x * x, 1, keepdims=True))
    return x / lengths, lengths


def corrcoef_jvp(tangents, r, x, y=None, rowvar=True, *, dtype=None) -> Any:
    z, lengths = scaled_rows(rows_of(x, y, rowvar))
    dx = moved_rows(tangents, x, y, rowvar)
    dz = (dx - z * np.sum(z * dx, 1, keepdims=True)) / lengths
    half = dz @ z.T
    return np.reshape(half + half.T, np.shape(r))


@shortcut(np.corrcoef, accepts=correlations, jvp=corrcoef_jvp, wrt=(0, 1))
def corrcoef_rule(x, y=None, rowvar=True, *, dtype=None) -> Result:
    r = np.corrcoef(x, y, rowvar, dtype=dtype)

    def corrcoef_pullback(dr):
        z, lengths = scaled_rows(rows_of(x, y, rowvar))
        g = np.reshape(dr, (len(z), len(z)))
        dz = (g + g.T) @ z
        dx = (dz - z * np.sum(z * dz, 1, keepdims=True)) / lengths
        return as_arguments(dx, x, y, rowvar)

    return r, corrcoef_pullback
