"""Discrete Fourier transforms along one axis; the rest of `np.fft` is derived from its source.

With a factor c and W_jk = exp(-2 pi i j k / n) the transform is y = c W x, so its adjoint is
dx = c W^H dy: the transform in the other direction with the same factor.  NumPy puts the factor
1/n on the inverse ("backward"), on the forward transform ("forward") or half on each ("ortho"),
so the same factor in the other direction goes by the opposite name.

A real transform has only the non-negative frequencies.  Those between 0 and n/2 stand for a
conjugate pair each, and count twice in `irfft`, once in `rfft`.

Transforming to a length n crops or pads with zeros first; the adjoint pads or crops at the end.

A transform into an output is computed in the precision of that, so it is a function of its dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import linear
from mooncake_py.rules.into import INTO
from mooncake_py.rules.kinds import Like

__all__: list[str] = []

SAME_FACTOR: dict[Any, Any] = {
    None: "forward",
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}


@linear(np.fft.fft)
def fft_adjoint(
    dy: ndarray, a: Like, n: int | None = None, axis: int = -1, norm: Any = None
) -> ndarray:
    return with_length(np.fft.ifft(dy, axis=axis, norm=SAME_FACTOR[norm]), a.shape[axis], axis)


@linear(np.fft.ifft)
def ifft_adjoint(
    dy: ndarray, a: Like, n: int | None = None, axis: int = -1, norm: Any = None
) -> ndarray:
    return with_length(np.fft.fft(dy, axis=axis, norm=SAME_FACTOR[norm]), a.shape[axis], axis)


@linear(np.fft.rfft)
def rfft_adjoint(
    dy: ndarray, a: Like, n: int | None = None, axis: int = -1, norm: Any = None
) -> ndarray:
    n = a.shape[axis] if n is None else n
    halved = np.array(dy)  # irfft counts the pairs twice
    pairs(halved, n, axis)[...] *= 0.5
    return with_length(np.fft.irfft(halved, n, axis, SAME_FACTOR[norm]), a.shape[axis], axis)


@linear(np.fft.irfft)
def irfft_adjoint(
    dy: ndarray, a: Like, n: int | None = None, axis: int = -1, norm: Any = None
) -> ndarray:
    da = np.fft.rfft(dy, axis=axis, norm=SAME_FACTOR[norm])
    pairs(da, dy.shape[axis], axis)[...] *= 2
    return with_length(da, a.shape[axis], axis)


def output_length(transform: Any, size: int, n: int | None) -> int:
    """Return how many numbers a transform of `size` of them returns."""
    if transform is np.fft.irfft:
        return 2 * (size - 1) if n is None else n
    n = size if n is None else n
    return n // 2 + 1 if transform is np.fft.rfft else n


def into(transform: Any, adjoint: Callable[..., ndarray]) -> Callable[..., ndarray]:
    """Return, and declare, what computes a transform as NumPy does into an output of a dtype."""

    def transformed(
        a: Any, dtype: Any, n: int | None = None, axis: int = -1, norm: Any = None
    ) -> ndarray:
        a = np.asarray(a)
        shape = list(a.shape)
        shape[axis] = max(output_length(transform, shape[axis], n), 0)  # it raises below 1
        y = transform(a, n, axis, norm, np.empty(shape, dtype))
        return y.real if transform is np.fft.irfft else y

    @linear(transformed)
    def transformed_adjoint(
        dy: ndarray, a: Like, dtype: Any, n: int | None = None, axis: int = -1, norm: Any = None
    ) -> ndarray:
        return adjoint(dy, a, n, axis, norm)

    setattr(transformed, "stands_for", transform)  # noqa: B010
    return transformed


INTO.update({
    np.fft.fft: into(np.fft.fft, fft_adjoint),
    np.fft.ifft: into(np.fft.ifft, ifft_adjoint),
    np.fft.rfft: into(np.fft.rfft, rfft_adjoint),
    np.fft.irfft: into(np.fft.irfft, irfft_adjoint),
})  # fmt: skip


def pairs(y: ndarray, n: int, axis: int) -> ndarray:
    """Return the view of the frequencies that stand for two in a real transform of length n."""
    return y[(*before(axis, y), slice(1, (n + 1) // 2))]


def with_length(x: ndarray, n: int, axis: int) -> ndarray:
    """Crop `x`, or pad it with zeros, to length `n` along an axis."""
    length = x.shape[axis]
    if length == n:
        return x
    kept = (*before(axis, x), slice(min(n, length)))
    if length > n:
        return x[kept]
    shape = list(x.shape)
    shape[axis] = n
    padded = np.zeros(shape, x.dtype)
    padded[kept] = x
    return padded


def before(axis: int, x: ndarray) -> tuple[slice, ...]:
    """Return the part of an index that leads to an axis."""
    return (slice(None),) * (axis % x.ndim)
