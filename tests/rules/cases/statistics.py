"""Cases for statistics: quantiles, averages, covariances, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
    "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher",
    "midpoint", "nearest",
)  # fmt: skip
STEPWISE = ("inverted_cdf", "closest_observation", "lower", "higher", "midpoint", "nearest")
WEIGHTS = np.array([0.2, 0.5, 0.3, 0.7])


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        *quantile_cases(),
        *average_cases(),
        *covariance_cases(),
        *histogram_cases(),
    ]


def with_nan(*shape: int) -> np.ndarray:
    x = draw(*shape)
    x[0, 1] = np.nan
    return x


def quantile_cases() -> list[Case]:
    x, q = draw(3, 5), np.array([0.13, 0.58])
    found = []
    for function in (np.quantile, np.nanquantile):
        found += [
            *(
                Case(function, (x, 0.37), {"axis": axis, "keepdims": keepdims},
                     f"axis={axis}-{keepdims}", options=PLAIN)
                for axis in (None, 0, -1, (0, 1))
                for keepdims in (False, True)
            ),
            *(
                Case(function, (x, q), {"axis": 1, "method": method}, method,
                     interface_only=method in STEPWISE[:2], options=PLAIN)
                for method in METHODS
            ),
            Case(function, (x, 0.37), label="all-variants"),
        ]  # fmt: skip
    return [
        *found,
        Case(np.quantile, (draw(3, 4), 0.37), {"weights": WEIGHTS, "axis": 1,
             "method": "inverted_cdf"}, "weights", options=PLAIN),
        Case(np.percentile, (x, 37.0), {"axis": 1}, "axis", options=PLAIN),
        Case(np.percentile, (x, 100 * q), {"method": "hazen"}, "hazen", options=PLAIN),
        Case(np.nanpercentile, (with_nan(3, 5), 37.0), {"axis": 1}, "nan",
             interface_only=True, options=PLAIN),
        Case(np.nanpercentile, (x, 37.0), {"axis": 0, "keepdims": True}, "keepdims", options=PLAIN),
        Case(quantiles_of_the_rest, (with_nan(3, 5)[1:], q), options=PLAIN),
        Case(overwritten, (draw(7),), options=PLAIN),
    ]  # fmt: skip


def quantiles_of_the_rest(x: np.ndarray, q: np.ndarray) -> Any:
    """Pass over nan that are constants."""
    full = np.vstack([np.full(x.shape[1], np.nan), x])
    return np.nanquantile(full, q, axis=0) * np.nanmedian(full) + np.nanpercentile(full, 40.0)


def overwritten(x: np.ndarray) -> Any:
    """Let NumPy use the array as a buffer, which then holds its elements in another order."""
    first = np.quantile(x, 0.3, overwrite_input=True)
    return first * np.median(x, overwrite_input=True) + np.percentile(x, 60, overwrite_input=True)


def average_cases() -> list[Case]:
    x, weights = draw(3, 4), np.abs(draw(3, 4, seed=1))
    return [
        Case(np.average, (x,), label="plain"),
        Case(np.average, (x, 1, WEIGHTS), label="weights"),
        Case(np.average, (x, None, weights), label="weights-of-all"),
        Case(np.average, (x, 1, WEIGHTS, True), label="returned", options=PLAIN),
        Case(np.average, (x, 1), {"weights": WEIGHTS, "keepdims": True}, "keepdims"),
        Case(np.average, (draw(2, 3, 4), (0, 2), weights[:2]), label="two-axes", options=PLAIN),
    ]


def covariance_cases() -> list[Case]:
    x, y = draw(4, 4), draw(4, 4, seed=1)
    counts = np.array([1, 2, 1, 3])
    z = draw(3, 4, dtype=complex)
    return [
        Case(np.cov, (x,), label="all-variants"),
        Case(np.cov, (x, y), label="two", options=PLAIN),
        Case(np.cov, (x, y, False), label="columns", options=PLAIN),
        Case(np.cov, (x,), {"bias": True}, "bias", options=PLAIN),
        Case(np.cov, (x,), {"ddof": 0}, "ddof", options=PLAIN),
        Case(np.cov, (x, None, True, False, None, counts, WEIGHTS), label="weights", options=PLAIN),
        Case(np.cov, (draw(5),), label="row", options=PLAIN),
        Case(np.cov, (z,), label="complex", options=PLAIN),
        Case(np.corrcoef, (x,), label="all-variants"),
        Case(np.corrcoef, (draw(5), draw(5, seed=1)), label="rows", options=PLAIN),
        Case(np.corrcoef, (x, y, False), label="columns", options=PLAIN),
        Case(np.corrcoef, (z,), label="complex", options=PLAIN),
    ]


def histogram_cases() -> list[Case]:
    x, y, weights = draw(6), draw(6, seed=1), np.abs(draw(6, seed=2))
    edges = np.array([-4.0, 0.0, 1.0, 4.0])
    bins = np.array([0, 2, 2, 1, 4, 2])
    return [
        Case(np.bincount, (bins, weights), label="weights"),
        Case(np.bincount, (bins, weights, 9), label="length"),
        Case(np.bincount, ([0, 1, 1], [0.5, 1.5, 2.5]), label="lists"),
        Case(np.histogram, (x, 3, None, None, weights), label="weights", options=PLAIN),
        Case(np.histogram, (x, 3, (-3.0, 3.0), True, weights), label="density", options=PLAIN),
        Case(np.histogram, (x, 3), {"density": True}, "edges", options=PLAIN),
        Case(np.histogram, (x, edges, None, None, draw(6, dtype=complex)), label="complex",
             options=PLAIN),
        Case(np.histogram2d, (x, y, 3, None, None, weights), label="weights", options=PLAIN),
        Case(np.histogram2d, (x, y, [2, edges], None, True, weights), label="density",
             options=PLAIN),
        Case(np.histogramdd, (draw(6, 3), (2, 2, 2), None, None, weights), label="weights",
             options=PLAIN),
        Case(np.histogramdd, (draw(6, 2), 3, None, True, weights), label="density", options=PLAIN),
        *(
            Case(np.histogram_bin_edges, (draw(30), b), label=str(b), interface_only=b == "stone",
                 options=PLAIN)
            for b in (3, "auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")
        ),
    ]  # fmt: skip
