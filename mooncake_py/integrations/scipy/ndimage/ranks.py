"""Filters that pick an element of each window, and filters by a function of the user's.

Which element is picked is a constant between ties, where the derivative is that of one of them.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import scipy.ndimage._filters as filters
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.ndimage.borders import NAMES, compiled
from mooncake_py.integrations.scipy.ndimage.correlations import positions
from mooncake_py.integrations.scipy.ndimage.interpolation import write
from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.plain_values import derived_as_writer, held, plain_written, valued

__all__ = ["ranked"]


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
    y: ndarray, x: ndarray, footprint: ndarray, added: Any, rank: int, mode: Any, cval: Any,
    origins: Any,
) -> tuple[ndarray, ndarray]:  # fmt: skip
    """Return which elements of the image, and of the window, a filter that returned `y` has picked.

    It is the one of the rank, or the first one that is equal: SciPy has several algorithms, which
    order nan differently.
    """
    found = sources(x.shape, footprint, mode, origins)
    values = np.where(found < 0, cval, x.reshape(-1)[found])
    if added is not None:
        values = values + added.reshape(-1, *[1] * x.ndim)
    chosen = np.argsort(values, axis=0, kind="stable")[rank][None]
    with np.errstate(all="ignore"):
        values = values.astype(y.dtype)
    other = ~are_equal(np.take_along_axis(values, chosen, 0), y)
    if other.any():
        equal = are_equal(values, y)
        if not equal.any(axis=0).all():
            raise MissingRuleError(
                "the derivative of this filter is not implemented for this image",
                why="SciPy returned a number that is not an element of the window",
                fix="hold the image constant, or replace the elements that are not finite",
            )
        chosen = np.where(other, equal.argmax(axis=0), chosen)
    return np.take_along_axis(found, chosen, 0)[0], chosen[0]


def are_equal(a: ndarray, b: ndarray) -> ndarray:
    """Return which elements are the same numbers, or both nan."""
    return (a == b) | ((a != a) & (b != b))


zero_derivative(sources, picked, because="returns indices")


def ranked(
    plain: ndarray, x: Any, footprint: Any, added: Any, rank: int, mode: Any, cval: Any,
    origins: Any,
) -> Any:  # fmt: skip
    """Return the `plain` values with the derivatives of the elements that they are.

    What is `added` to each window is one number an element.
    """
    found, chosen = picked(plain, x, footprint, added, rank, mode, cval, origins)
    y = np.where(found < 0, cval, np.reshape(x, -1)[found])
    y = y if added is None else y + added[chosen]
    return valued(y, plain) if plain.dtype.kind == "f" else plain


@overlay(compiled.min_or_max_filter1d)
def min_or_max_filter1d(
    x: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int, minimum: int
) -> None:
    args = x, size, axis, output, mode, cval, origin, minimum
    (plain,) = plain_written(compiled.min_or_max_filter1d, args, (3,))
    shape, origins = [1] * x.ndim, [0] * x.ndim
    shape[axis], origins[axis] = size, origin
    rank = 0 if minimum else -1
    output[...] = ranked(plain, x, np.ones(shape, bool), None, rank, mode, cval, origins)


@overlay(compiled.min_or_max_filter)
def min_or_max_filter(
    x: Any, footprint: Any, structure: Any, output: Any, mode: int, cval: Any, origins: Any,
    minimum: int,
) -> None:  # fmt: skip
    """Take the smallest after the structure was subtracted, or the largest after it was added."""
    args = x, footprint, structure, output, mode, cval, origins, minimum
    (plain,) = plain_written(compiled.min_or_max_filter, args, (3,))
    added = None
    if structure is not None:
        inside = structure[footprint]
        added = -inside if minimum else inside
    rank = 0 if minimum else -1
    output[...] = ranked(plain, x, footprint, added, rank, mode, cval, origins)


@overlay(compiled.rank_filter)
def rank_filter(
    x: Any, rank: int, footprint: Any, output: Any, mode: Any, cval: Any, origins: Any
) -> None:
    args = x, rank, footprint, output, mode, cval, origins
    (plain,) = plain_written(compiled.rank_filter, args, (3,))
    output[...] = ranked(plain, x, footprint, None, rank, mode, cval, origins)


if hasattr(filters, "_rank_filter_1d"):

    @overlay(filters._rank_filter_1d.rank_filter)
    def rank_filter_1d(
        x: Any, rank: int, size: int, output: Any, mode: int, cval: Any, origin: int
    ) -> None:
        if x.dtype != output.dtype:  # the compiled function writes beyond the end of `output`
            raise MissingRuleError(
                f"SciPy cannot write the ranks of {x.dtype} into an array of {output.dtype}",
                why="its filter of one axis writes elements of the dtype of the image",
                fix="filter without `output`, and convert the result with astype",
            )
        args = x, rank, size, output, mode, cval, origin
        (plain,) = plain_written(filters._rank_filter_1d.rank_filter, args, (3,))
        output[...] = ranked(plain, x, np.ones(size, bool), None, rank, mode, cval, [origin])


# Filters by a function.


@derived_as_writer(compiled.generic_filter, 3)
def generic_filter(
    x: Any, function: Any, footprint: Any, output: Any, mode: int, cval: Any, origins: Any,
    arguments: Any, options: Any,
) -> None:  # fmt: skip
    """Call the function with each window in turn, in double precision."""
    found = sources(x.shape, footprint, mode, origins)
    windows = np.asarray(np.where(found < 0, cval, np.reshape(x, -1)[found]), float)
    values = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        window = windows[(slice(None), *place)].copy()
        values[place] = function(window, *(arguments or ()), **(options or {}))
    write(output, values)


@overlay(compiled.generic_filter1d)
def generic_filter1d(
    x: Any, function: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int,
    arguments: Any, options: Any,
) -> None:  # fmt: skip
    """Call the function with each extended line, and a line for what it writes."""
    results, lines = np.zeros(output.shape), deque()
    if x.size:
        place = positions(x.shape[axis], size, NAMES[mode], origin)
        extended = np.moveaxis(np.take(x, place, axis), axis, -1)
        extended = np.asarray(np.where(place < 0, cval, extended), float)
        along = np.moveaxis(results, axis, -1)
        for index in np.ndindex(along.shape[:-1]):
            line = np.zeros(x.shape[axis])
            function(extended[index].copy(), line, *(arguments or ()), **(options or {}))
            along[index] = line
            lines.append(held(line))

    def repeat(_: Any, line: ndarray) -> None:
        line[...] = lines.popleft()

    args = x, repeat, size, axis, output, mode, cval, origin, (), {}
    (plain,) = plain_written(compiled.generic_filter1d, args, (4,))
    write(output, results)
    output[...] = plain if plain.dtype.kind in "biu" else valued(output.copy(), plain)
