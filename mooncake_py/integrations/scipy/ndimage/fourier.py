"""Filters of Fourier transforms: products with a function of the frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.integrations.scipy.ndimage.borders import compiled
from mooncake_py.rules.declare import from_vjp, not_implemented
from mooncake_py.rules.plain_values import derived_as_writer

__all__: list[str] = []

GAUSSIAN, UNIFORM, ELLIPSOID = range(3)


def frequencies(n: int, whole: int, halved: bool) -> ndarray:
    """Return the frequencies of a transform, in steps of one element; `halved` is that of rfft."""
    if not n:
        return np.zeros(0)
    return np.arange(n) / whole if halved else np.fft.fftfreq(n)


def multiplier(sizes: ndarray, shape: tuple[int, ...], n: int, axis: int, kind: int) -> ndarray:
    """Return SciPy's multiplier."""
    factors = np.ones(shape)
    compiled.fourier_filter(np.ones(shape), sizes, n, axis, factors, kind)
    return factors


SIZES = not_implemented("the sizes of fourier_uniform and fourier_ellipsoid")


@from_vjp(multiplier)
def multiplier_rule(sizes: Any, shape: Any, n: int, axis: int, kind: int) -> Any:
    return multiplier(sizes, shape, n, axis, kind), lambda dy: (SIZES,)


@derived_as_writer(compiled.fourier_filter, 4)
def fourier_filter(x: Any, sizes: Any, n: int, axis: int, output: Any, kind: int) -> None:
    if kind != GAUSSIAN:
        output[...] = x * multiplier(sizes, x.shape, n, axis, kind)
        return
    exponent, in_order = 0.0, np.ravel(sizes)  # as SciPy reads them
    for k, line in enumerate(lines(x.shape, n, axis)):
        exponent = exponent + (line * in_order[k]) ** 2
    output[...] = x * np.exp(-2 * np.pi**2 * exponent)


@derived_as_writer(compiled.fourier_shift, 4)
def fourier_shift(x: Any, shifts: Any, n: int, axis: int, output: Any) -> None:
    phase, in_order = 0.0, np.ravel(shifts)
    for k, line in enumerate(lines(x.shape, n, axis)):
        phase = phase + line * in_order[k]
    output[...] = x * np.exp(-2j * np.pi * phase)


def lines(shape: tuple[int, ...], n: int, axis: int) -> list[ndarray]:
    """Return the frequencies along each axis, shaped to go with the others."""
    found = []
    for k, length in enumerate(shape):
        halved = n >= 0 and k == axis
        line = frequencies(length, n if halved else length, halved)
        found.append(line.reshape([-1 if m == k else 1 for m in range(len(shape))]))
    return found
