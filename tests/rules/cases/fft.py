"""Cases for discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

OF_REAL = (np.fft.rfft, np.fft.ihfft)
OF_ANY = (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft)
SEVERAL_OF_REAL = (np.fft.rfft2, np.fft.rfftn)
SEVERAL_OF_ANY = (
    np.fft.fft2, np.fft.ifft2, np.fft.irfft2, np.fft.fftn, np.fft.ifftn, np.fft.irfftn,
)  # fmt: skip

LENGTHS = (
    (1, 0, "ortho"), (2, -1, "forward"), (3, 0, "backward"), (3, 1, "ortho"), (4, 0, "forward"),
    (6, -1, "ortho"), (7, 1, "forward"), (8, 0, "ortho"),
)  # fmt: skip


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        *axis_cases(), *axes_cases(), *shift_cases(), *frequency_cases(), *composed_cases(),
    ]  # fmt: skip


def operand(function: Any, *shape: int) -> np.ndarray:
    """Return the operand of a transform."""
    return draw(*shape, dtype=float if function in OF_REAL + SEVERAL_OF_REAL else complex)


def labelled(function: Any, x: np.ndarray, checked: bool = True, **kwargs: Any) -> Case:
    """Return a case with its keyword arguments for a label."""
    label = "-".join([str(x.shape), *(f"{name}={v}" for name, v in kwargs.items())])
    return Case(function, (x,), kwargs, label, options={} if checked else {"layouts": False})


def axis_cases() -> list[Case]:
    """Return lengths odd and even, cropped and padded, all norms, first and last axis."""
    found = []
    for function in OF_REAL + OF_ANY:
        x = operand(function, 4, 5)
        found += [
            labelled(function, x),
            labelled(function, operand(function, 4)),
            labelled(function, operand(function, 2), checked=False, n=1),
            labelled(function, operand(function, 2, 3, 2), axis=-2),
            labelled(function, np.asfortranarray(x)[::2], n=4),
        ]
        found += [
            labelled(function, x, checked=False, n=n, axis=axis, norm=norm)
            for n, axis, norm in LENGTHS
        ]
    found += [Case(function, (draw(4),), label="real") for function in OF_ANY]
    return [*found, Case(np.fft.fft, ([1.0, 2.0, 4.0], 4), label="list")]


def axes_cases() -> list[Case]:
    """Return transforms along several axes: crops, pads, repeated axes."""
    options: tuple[dict[str, Any], ...] = (
        {"axes": (-1,)},
        {"axes": (1, 0), "norm": "ortho"},
        {"s": (3, 7), "axes": (0, 1)},
        {"s": (-1, 3), "axes": (-1, 0), "norm": "forward"},
        {"s": (7, 2), "axes": (1, 1)},
    )
    found = []
    for function in SEVERAL_OF_REAL + SEVERAL_OF_ANY:
        found += [
            labelled(function, operand(function, 4, 5)),
            labelled(function, operand(function, 2, 3, 4)),
            *(labelled(function, operand(function, 4, 5), checked=False, **kw) for kw in options),
        ]
    return found


def shift_cases() -> list[Case]:
    return [
        labelled(function, draw(4, 5), **kwargs)
        for function in (np.fft.fftshift, np.fft.ifftshift)
        for kwargs in ({}, {"axes": 0}, {"axes": (0, -1)})
    ]


def frequency_cases() -> list[Case]:
    """Return the frequencies, which depend on the spacing of the samples."""
    return [
        Case(function, (n, 0.5), label=str(n))
        for function in (np.fft.fftfreq, np.fft.rfftfreq)
        for n in (4, 5)
    ]


def into_buffer(x: np.ndarray) -> np.ndarray:
    """Transform into one row of a buffer that held something else, and change the operand."""
    x = x * (1 + 0j)
    buffer = np.stack([x, 2 * x])
    np.fft.fft(x, out=buffer[0])
    x[...] = 1
    buffer[1] += buffer[0]
    np.fft.ifft(buffer[1], axis=0, out=buffer[1])
    return buffer


def filtered(x: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Smooth a signal by a window in frequency."""
    spectrum = np.fft.rfft(x)
    spectrum *= window
    frequencies = np.fft.rfftfreq(len(x)) + np.fft.fftfreq(len(x))[: len(window)] ** 2
    spectrum *= np.exp(-frequencies)
    return np.fft.irfft(spectrum, len(x))


def composed_cases() -> list[Case]:
    return [
        Case(into_buffer, (draw(3, 4, dtype=complex),), options={"layouts": False}),
        Case(filtered, (draw(7), draw(4)), options={"layouts": False, "dtypes": False}),
    ]
