"""Peaks: their places are constants, their prominences and widths are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as sg
import scipy.signal._peak_finding as plain
from numpy import ndarray

from mooncake_py.rules.declare import overlay, zero_derivative

__all__: list[str] = []

zero_derivative(
    plain._local_maxima_1d, plain._select_by_peak_distance, sg.max_len_seq,
    because="returns indices and integers",
)  # fmt: skip

plain_prominences = plain._peak_prominences


def bases(x: ndarray, peaks: ndarray, wlen: Any) -> Any:
    """Return where the lowest points are on both sides of peaks."""
    return plain_prominences(x, peaks, wlen)[1:]


def crossings(x: ndarray, peaks: ndarray, heights: ndarray, ends: ndarray, step: int) -> ndarray:
    """Return the places nearest to peaks that are not above a height, or the ends."""
    found = np.array(peaks)
    for k, (height, end) in enumerate(zip(heights, ends, strict=True)):
        while found[k] != end and height < x[found[k]]:
            found[k] += step
    return found


zero_derivative(bases, crossings, because="returns indices")


@overlay(plain._peak_prominences)
def peak_prominences(x: Any, peaks: Any, wlen: Any) -> Any:
    """Return how far peaks stand above the higher one of their bases."""
    left, right = bases(x, peaks, wlen)
    return x[peaks] - np.maximum(x[left], x[right]), left, right


@overlay(plain._peak_widths)
def peak_widths(
    x: Any, peaks: Any, rel_height: Any, prominences: Any, left_bases: Any, right_bases: Any
) -> Any:
    """Return the distance of the points where lines cross a height, and these points."""
    heights = x[peaks] - prominences * rel_height
    left = crossed(x, heights, crossings(x, peaks, heights, left_bases, -1), 1)
    right = crossed(x, heights, crossings(x, peaks, heights, right_bases, 1), -1)
    return right - left, heights, left, right


def crossed(x: Any, heights: Any, places: ndarray, step: int) -> Any:
    """Return where the line from a place to its neighbour has a height, if the place is below."""
    low, high = x[places], x[np.clip(places + step, 0, len(x) - 1)]
    below = low < heights
    rise = np.where(below, high - low, 1.0)
    return places + step * np.where(below, (heights - low) / rise, 0.0)
