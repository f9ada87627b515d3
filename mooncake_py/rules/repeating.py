"""Rules for functions whose result may repeat an element: repeat, tile, pad."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mooncake_py.rules.axes import shaped
from mooncake_py.rules.declare import linear, overlay

__all__ = []


@linear(np.repeat, np.ndarray.repeat)
def repeat_adjoint(dy, a, repeats, axis=None):
    """Sum over the copies of each element."""
    if axis is None or a.ndim == 0:
        shape, axis = (a.size,), 0
    else:
        shape, axis = a.shape, axis % a.ndim
    before, n, after = shape[:axis], shape[axis], shape[axis + 1 :]
    if np.size(repeats) == 1:
        times = int(np.reshape(repeats, ())[()])
        return shaped(dy.reshape((*before, n, times, *after)).sum(axis + 1), a.shape)
    dx = np.zeros(shape, dy.dtype)
    place: Any = (slice(None),) * axis + (np.repeat(np.arange(n), repeats),)
    np.add.at(dx, place, dy)
    return dx.reshape(a.shape)


@linear(np.tile)
def tile_adjoint(dy, A, reps):
    """Sum over the tiles."""
    times = tuple([int(n) for n in np.atleast_1d(reps)])  # True and 1.0 leave an array as it is
    shape = (1,) * (len(times) - A.ndim) + A.shape
    times = (1,) * (len(shape) - len(times)) + times
    tiles = dy.reshape([m for pair in zip(times, shape, strict=True) for m in pair])
    return shaped(tiles.sum(tuple(range(0, tiles.ndim, 2))), A.shape)


@linear(np.resize)
def resize_adjoint(dy, a, new_shape):
    """Sum over the repetitions, of which the last may be incomplete."""
    if dy.size == 0 or a.size == 0:
        return np.zeros(a.shape, dy.dtype)
    rounds = -(-dy.size // a.size)
    flat = np.zeros(rounds * a.size, dy.dtype)
    flat[: dy.size] = dy.reshape(-1)
    return flat.reshape((rounds, a.size)).sum(0).reshape(a.shape)


# Padding.

COPYING_MODES = frozenset({"edge", "reflect", "symmetric", "wrap"})
pad_in_python = np.pad.__wrapped__  # type: ignore[attr-defined]


@overlay(np.pad)
def pad(array, pad_width, mode="constant", **kwargs):
    """Use an adjoint for the modes that copy elements, and derive NumPy's source for others."""
    if not kwargs and mode == "constant":
        return pad_with_zeros(array, pad_width)
    if not kwargs and mode in COPYING_MODES:
        return pad_with_copies(array, pad_width, mode)
    return pad_in_python(array, pad_width, mode, **kwargs)


def pad_with_zeros(array, pad_width):
    """Pad an array with zeros, as np.pad does by default."""
    return np.pad(array, pad_width)


def pad_with_copies(array, pad_width, mode):
    """Pad an array with copies of its own elements."""
    return np.pad(array, pad_width, mode)


@linear(pad_with_zeros)
def pad_with_zeros_adjoint(dy, array, pad_width):
    """Cut the padding off; returns a view of `dy`."""
    if array.ndim == 0:
        return dy
    # Where the first element of each axis ends up, found by NumPy's own reading of pad_width.
    first = np.pad(np.ones((1,) * array.ndim, bool), pad_width).nonzero()
    starts = [int(position[0]) for position in first]
    return dy[tuple(slice(k, k + n) for k, n in zip(starts, array.shape, strict=True))]


@linear(pad_with_copies)
def pad_with_copies_adjoint(dy, array, pad_width, mode):
    """Add up all copies of each element."""
    origin = np.pad(np.arange(array.size).reshape(array.shape), pad_width, mode)
    dx = np.zeros(prod(array.shape), dy.dtype)
    np.add.at(dx, origin.reshape(-1), dy.reshape(-1))
    return dx.reshape(array.shape)
