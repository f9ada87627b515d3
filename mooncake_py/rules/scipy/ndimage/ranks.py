"""Filters that pick an element of each window, and filters by a function of the user's.

Which element is picked is a constant between ties, where the derivative is that of one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage._filters as plain
from numpy import ndarray

from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.scipy.ndimage.borders import NAMES, compiled
from mooncake_py.rules.scipy.ndimage.correlations import positions

__all__: list[str] = []


def sources(shape: tuple[int, ...], footprint: ndarray, mode: Any, origins: Any) -> ndarray:
    """Return which elements stand in the window of each element, by their places in one line.

    The windows are the first axis; -1 is the constant.
    """
    modes = [mode] * len(shape) if isinstance(mode, int) else [int(code) for code in mode]
    places = [
        positions(n, size, NAMES[code], origin)
        for n, size, code, origin in zip(shape, footprint.shape, modes, origins, strict=True)
    ]
    extended, beyond = np.zeros([1] * len(shape), np.intp), np.zeros([1] * len(shape), bool)
    for axis, (place, n) in enumerate(zip(places, shape, strict=True)):
        line = place.reshape([-1 if k == axis else 1 for k in range(len(shape))])
        extended, beyond = extended * n + line, beyond | (line < 0)
    extended = np.where(beyond, -1, extended)
    windows = [
        extended[tuple(slice(k, k + n) for k, n in zip(index, shape, strict=True))]
        for index in np.argwhere(footprint)
    ]
    return np.array(windows)


def picked(
    x: ndarray, footprint: ndarray, added: Any, rank: int, mode: Any, cval: Any, origins: Any
) -> tuple[ndarray, ndarray]:
    """Return which elements of the image, and of the window, have a rank among the window."""
    found = sources(x.shape, footprint, mode, origins)
    values = np.where(found < 0, cval, x.reshape(-1)[found])
    if added is not None:
        values = values + added.reshape(-1, *[1] * x.ndim)
    chosen = np.argsort(values, axis=0, kind="stable")[rank][None]
    return np.take_along_axis(found, chosen, 0)[0], chosen[0]


zero_derivative(sources, picked, because="returns indices")


def ranked(
    x: Any, footprint: Any, added: Any, rank: int, mode: Any, cval: Any, origins: Any
) -> Any:
    """Return the elements of a rank; `added` is added to each window, one number an element."""
    found, chosen = picked(x, footprint, added, rank, mode, cval, origins)
    y = np.where(found < 0, cval, np.reshape(x, -1)[found])
    return y if added is None else y + added[chosen]


@overlay(compiled.min_or_max_filter1d)
def min_or_max_filter1d(
    x: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int, minimum: int
) -> None:
    shape, origins = [1] * x.ndim, [0] * x.ndim
    shape[axis], origins[axis] = size, origin
    rank = 0 if minimum else -1
    output[...] = ranked(x, np.ones(shape, bool), None, rank, mode, cval, origins)


@overlay(compiled.min_or_max_filter)
def min_or_max_filter(
    x: Any, footprint: Any, structure: Any, output: Any, mode: int, cval: Any, origins: Any,
    minimum: int,
) -> None:  # fmt: skip
    """Take the smallest after the structure was subtracted, or the largest after it was added."""
    added = None
    if structure is not None:
        inside = structure[footprint]
        added = -inside if minimum else inside
    output[...] = ranked(x, footprint, added, 0 if minimum else -1, mode, cval, origins)


@overlay(compiled.rank_filter)
def rank_filter(
    x: Any, rank: int, footprint: Any, output: Any, mode: Any, cval: Any, origins: Any
) -> None:
    output[...] = ranked(x, footprint, None, rank, mode, cval, origins)


if hasattr(plain, "_rank_filter_1d"):

    @overlay(plain._rank_filter_1d.rank_filter)
    def rank_filter_1d(
        x: Any, rank: int, size: int, output: Any, mode: int, cval: Any, origin: int
    ) -> None:
        output[...] = ranked(x, np.ones(size, bool), None, rank, mode, cval, [origin])


# Filters by a function.


@overlay(compiled.generic_filter)
def generic_filter(
    x: Any, function: Any, footprint: Any, output: Any, mode: int, cval: Any, origins: Any,
    arguments: Any, options: Any,
) -> None:  # fmt: skip
    """Call the function with each window in turn."""
    found = sources(x.shape, footprint, mode, origins)
    windows = np.where(found < 0, cval, np.reshape(x, -1)[found])
    for place in np.ndindex(x.shape):
        window = windows[(slice(None), *place)].copy()
        output[place] = function(window, *(arguments or ()), **(options or {}))


@overlay(compiled.generic_filter1d)
def generic_filter1d(
    x: Any, function: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int,
    arguments: Any, options: Any,
) -> None:  # fmt: skip
    """Call the function with each extended line, and a line for what it writes."""
    place = positions(x.shape[axis], size, NAMES[mode], origin)
    extended = np.moveaxis(np.take(x, place, axis), axis, -1)
    extended = np.where(place < 0, cval, extended)
    results = np.moveaxis(output, axis, -1)
    for index in np.ndindex(results.shape[:-1]):
        line = np.zeros(x.shape[axis])
        function(extended[index].copy(), line, *(arguments or ()), **(options or {}))
        results[index] = line
