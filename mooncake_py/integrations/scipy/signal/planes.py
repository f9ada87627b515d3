"""Convolutions and medians of two axes, by those of any number."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as sg
import scipy.signal._signaltools as plain

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.ndimage.borders import CONSTANT
from mooncake_py.integrations.scipy.ndimage.ranks import ranked
from mooncake_py.rules.declare import overlay
from mooncake_py.rules.plain_values import derived_as, plain_result

__all__: list[str] = []

compiled: Any = plain._sigtools
VALID, SAME, FULL = range(3)
BOUNDARIES = {0: "constant", 4: "symmetric", 8: "wrap"}


@derived_as(compiled._convolve2d)
def convolve2d(x: Any, kernel: Any, flip: int, mode: int, boundary: int, fillvalue: Any) -> Any:
    """Extend the image by the boundary, and cut out what the mode asks for."""
    if not x.size or not kernel.size:
        return plain_result(compiled._convolve2d, (x, kernel, flip, mode, boundary, fillvalue), {})
    n, m = np.array(x.shape), np.array(kernel.shape)
    if boundary and np.any(m - 1 > n):
        raise MissingRuleError(
            "a convolution with boundary='symm' or 'wrap' has no rule for so large a kernel",
            why=f"a kernel of shape {kernel.shape} reaches twice around an image of {x.shape}",
            fix="extend the image with numpy.pad, and convolve with mode='valid'",
        )
    name: Any = BOUNDARIES[boundary]
    options = {"constant_values": fillvalue} if name == "constant" else {}
    extended = np.pad(x, [(k - 1, k - 1) for k in m.tolist()], name, **options)
    full: Any = sg.convolve(
        extended, kernel if flip else kernel[::-1, ::-1], "valid", method="direct"
    )
    if mode == FULL:
        return full
    middle = (m - 1) // 2 if flip else m // 2
    start, size = (m - 1, n - m + 1) if mode == VALID else (middle, n)
    (i, j), (rows, columns) = start.tolist(), size.tolist()
    return full[i : i + rows, j : j + columns].copy()


@overlay(compiled._medfilt2d)
def medfilt2d(x: Any, size: Any) -> Any:
    plain = plain_result(compiled._medfilt2d, (x, size), {})
    window = np.ones([int(k) for k in size], bool)
    return ranked(plain, x, window, None, window.size // 2, CONSTANT, 0.0, [0, 0])
