"""Resampling by a filter: zeros between the samples, a convolution, some of its outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as sg
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import bilinear
from mooncake_py.rules.plain_values import derived_as

__all__: list[str] = []

PADDING: dict[str, Any] = {
    "constant": "constant",
    "edge": "edge",
    "wrap": "wrap",
    "symmetric": "symmetric",
    "reflect": "reflect",
}
plain_upfirdn = sg.upfirdn


def resampled(h: Any, x: Any, up: int, down: int) -> ndarray:
    """Return y[n] = sum_i h[n down - i up] x[i], along the last axis."""
    return plain_upfirdn(h, x, up, down)


def of_filter(dy: ndarray, h: Any, x: ndarray, up: int, down: int) -> ndarray:
    """dh[k] = sum_n dy[n] conj(x)[(n down - k) / up]: a correlation of both with zeros between."""
    wide, spread = with_zeros(dy, down), with_zeros(x, up)
    n = spread.shape[-1]
    dh = np.zeros(h.shape, np.result_type(dy, x))
    for index in np.ndindex(dy.shape[:-1]):
        lags: Any = sg.correlate(wide[index], spread[index])
        found = lags[n - 1 : n - 1 + len(dh)]
        dh[: len(found)] += found
    return dh


def of_signal(dy: ndarray, h: ndarray, x: Any, up: int, down: int) -> ndarray:
    """dx[i] = sum_n conj(h)[n down - i up] dy[n]: up and down change places."""
    every: Any = plain_upfirdn(conj(h)[::-1], dy, down, 1)
    found = every[..., len(h) - 1 :: up][..., : x.shape[-1]]
    dx = np.zeros(x.shape, found.dtype)
    dx[..., : found.shape[-1]] = found
    return dx


bilinear(resampled, left=of_filter, right=of_signal)


def with_zeros(x: ndarray, step: int) -> ndarray:
    """Put zeros between the elements of the last axis."""
    spread = np.zeros((*x.shape[:-1], max((x.shape[-1] - 1) * step + 1, 0)), x.dtype)
    spread[..., ::step] = x
    return spread


@derived_as(sg.upfirdn)
def upfirdn(
    h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant",
    cval: Any = 0,
) -> Any:  # fmt: skip
    """Extend the signal by what the filter reaches, and cut the ends off again."""
    h, x, up, down = np.asarray(h), np.asarray(x), int(up), int(down)
    h = h.astype(np.result_type(h, x, np.float32))
    lines = np.moveaxis(x, axis, -1).astype(h.dtype)
    if mode == "constant" and isinstance(cval, int) and cval == 0:
        return np.moveaxis(resampled(h, lines, up, down), -1, axis)
    if mode not in PADDING:
        raise MissingRuleError(
            f"upfirdn has no rule for mode={mode!r}",
            why="there is one for " + ", ".join(PADDING),
            fix="extend the signal yourself",
        )
    reach = len(h) // up + 1
    before = reach + -reach % down  # so that the grid of the outputs stays where it is
    widths = [(0, 0)] * (lines.ndim - 1) + [(before, reach)]
    options = {"constant_values": cval} if mode == "constant" else {}
    extended: Any = np.pad(lines, widths, PADDING[mode], **options)
    first = before * up // down
    count = ((lines.shape[-1] - 1) * up + len(h) - 1) // down + 1
    y = resampled(h, extended, up, down)[..., first : first + count]
    return np.moveaxis(y.copy(), -1, axis)
