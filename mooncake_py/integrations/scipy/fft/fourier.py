"""Rules for `scipy.fft`: Fourier transforms along one axis and along several.

The adjoint of a transform along several axes is that of one axis after the other, backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft as sf
from numpy import ndarray

from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.fft import (
    SAME_FACTOR,
    fft_adjoint,
    ifft_adjoint,
    irfft_adjoint,
    rfft_adjoint,
)
from mooncake_py.rules.kinds import Like

__all__ = ["axes_and_lengths"]

Adjoint = Callable[..., ndarray]

# In these NumPy and SciPy agree, up to the conjugate in the transforms of Hermitian signals.


def hfft_adjoint(dy: ndarray, a: Like, n: Any, axis: int, norm: Any) -> ndarray:
    """Return the adjoint of the conjugate followed by `irfft` with the factor of `rfft`."""
    return conj(irfft_adjoint(dy, a, n, axis, SAME_FACTOR[norm]))


def ihfft_adjoint(dy: ndarray, a: Like, n: Any, axis: int, norm: Any) -> ndarray:
    """Return the adjoint of `rfft` with the factor of `irfft`, followed by the conjugate."""
    return rfft_adjoint(conj(dy), a, n, axis, SAME_FACTOR[norm])


def transform(function: Any, adjoint: Adjoint) -> None:
    """Declare a transform along one axis."""

    @from_vjp(function, permits=("overwrite_x",))
    def rule(x: Any, n: Any = None, axis: int = -1, norm: Any = None, **options: Any) -> Any:
        x = np.asarray(x)
        like = Like(x.shape, x.dtype)
        y = function(x, n, axis, norm, **options)
        return y, lambda dy: (adjoint(dy, like, n, axis, norm), None, None)


transform(sf.fft, fft_adjoint)
transform(sf.ifft, ifft_adjoint)
transform(sf.rfft, rfft_adjoint)
transform(sf.irfft, irfft_adjoint)
transform(sf.hfft, hfft_adjoint)
transform(sf.ihfft, ihfft_adjoint)


# Along several axes: the adjoint for each axis, and that for the last one if it is another.

KINDS: dict[str, tuple[Adjoint, Adjoint | None]] = {
    "fft": (fft_adjoint, None),
    "ifft": (ifft_adjoint, None),
    "rfft": (fft_adjoint, rfft_adjoint),
    "irfft": (ifft_adjoint, irfft_adjoint),
    "hfft": (ifft_adjoint, irfft_adjoint),
    "ihfft": (fft_adjoint, rfft_adjoint),
}


def transform_of_axes(kind: str, suffix: str, default: Any) -> None:
    """Declare a transform along several axes."""
    function = getattr(sf, kind + suffix)

    @from_vjp(function, permits=("overwrite_x",))
    def rule(x: Any, s: Any = None, axes: Any = default, norm: Any = None, **options: Any) -> Any:
        x = np.asarray(x)
        y = function(x, s, axes, norm, **options)

        def pullback(dy: ndarray) -> tuple[Any, ...]:
            if kind == "hfft":  # the conjugate, then irfftn with the factor of rfftn
                dx = conj(along_axes(kind, dy, x.shape, s, axes, SAME_FACTOR[norm]))
            elif kind == "ihfft":
                dx = along_axes(kind, conj(dy), x.shape, s, axes, SAME_FACTOR[norm])
            else:
                dx = along_axes(kind, dy, x.shape, s, axes, norm)
            return dx, None, None

        return y, pullback


def along_axes(
    kind: str, dy: ndarray, shape: tuple[int, ...], s: Any, axes: Any, norm: Any
) -> ndarray:
    """Apply the adjoints along each axis; `shape` is that of the argument."""
    adjoint, of_last = KINDS[kind]
    steps = [(axis, n, adjoint) for axis, n in axes_and_lengths(len(shape), s, axes)]
    if of_last is not None:
        steps[-1] = (*steps[-1][:2], of_last)
    if of_last is irfft_adjoint:  # after all others, where `rfft` comes first
        steps.reverse()
    for axis, n, step in steps:
        inner = list(dy.shape)
        inner[axis] = shape[axis]
        dy = step(dy, Like(tuple(inner), dy.dtype), n, axis, norm)
    return dy


def axes_and_lengths(ndim: int, s: Any, axes: Any) -> list[tuple[int, Any]]:
    """Return the axes of a transform along several, each with its length, or None for all of it."""
    lengths = [s] if isinstance(s, (int, np.integer)) else s
    if axes is None:
        axes = range(-(ndim if s is None else len(lengths)), 0)
    elif isinstance(axes, (int, np.integer)):
        axes = [axes]
    return [(axis, None if s is None else n)
            for axis, n in zip(axes, axes if s is None else lengths, strict=True)]  # fmt: skip


for _kind in KINDS:
    transform_of_axes(_kind, "2", (-2, -1))
    transform_of_axes(_kind, "n", None)
