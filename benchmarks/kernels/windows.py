"""Layers of a network for images, written as loops over windows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import slice_adjoints
from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def convolution(images: Array, weights: Array, bias: Array) -> float:
    """Convolve images (n, height, width, channels) with (k, k, channels, filters), then clip."""
    k = weights.shape[0]
    count, height, width, _ = images.shape
    out = np.empty((count, height - k + 1, width - k + 1, weights.shape[3]))
    for i in range(height - k + 1):
        for j in range(width - k + 1):
            window = images[:, i : i + k, j : j + k, :, np.newaxis]
            out[:, i, j, :] = np.sum(window * weights[np.newaxis], axis=(1, 2, 3))
    out += bias
    return np.sum(np.maximum(out, 0.0))


def max_pooling(images: Array) -> float:
    """Take the largest value of each window of two by two, three times over."""
    for _ in range(3):
        count, height, width, channels = images.shape
        out = np.empty((count, height // 2, width // 2, channels))
        for i in range(height // 2):
            for j in range(width // 2):
                window = images[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :]
                out[:, i, j, :] = np.max(window, axis=(1, 2))
        images = out
    return np.sum(images * images)


def _images(size: int) -> tuple[Any, ...]:
    random = generator()
    images = random.standard_normal((2, size, size, 3))
    return images, random.standard_normal((3, 3, 3, 4)), random.standard_normal(4)


def _maps(size: int) -> tuple[Array]:
    return (generator().standard_normal((4, size, size, 8)),)


KERNELS = (
    Kernel(
        "convolution",
        "slices",
        convolution,
        _images,
        (16, 40),
        (0, 1, 2),
        adjoint=slice_adjoints.convolution,
    ),
    Kernel(
        "max_pooling", "slices", max_pooling, _maps, (24, 64), adjoint=slice_adjoints.max_pooling
    ),
)
