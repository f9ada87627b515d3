"""Cases for `scipy.signal`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
import scipy.signal as sg

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

PLAIN = {"layouts": False, "dtypes": False}
# Before, `sosfiltfilt` changes the shape of an array in place.
KEEPS_SHAPES = np.lib.NumpyVersion(scipy.__version__) >= "1.17.0"
B, A = np.array([0.5, 0.3, 0.1]), np.array([2.0, -0.4, 0.2, 0.1])


def with_state(b: Any, a: Any, x: Any, zi: Any) -> Any:
    return sg.lfilter(b, a, x, axis=0, zi=zi)


def by_sections(numerators: Any, denominators: Any, x: Any) -> Any:
    ones = np.ones((len(numerators), 1))
    return sg.sosfilt(np.hstack([numerators, ones, denominators]), x, axis=0)


def by_sections_with_state(numerators: Any, denominators: Any, x: Any, zi: Any) -> Any:
    ones = np.ones((len(numerators), 1))
    return sg.sosfilt(np.hstack([numerators, ones, denominators]), x, zi=zi)


def by_sosfiltfilt(x: np.ndarray) -> Any:
    return sg.sosfiltfilt(sg.butter(3, 0.3, output="sos"), x)


def by_filtfilt(x: np.ndarray) -> Any:
    return sg.filtfilt([0.5, 0.3], [1.0, -0.4], x)


def cases() -> list[Case]:
    """All cases of the family."""
    x, v, z = draw(7), draw(3), draw(5, dtype=complex)
    convolutions: tuple[Any, ...] = (sg.convolve, sg.fftconvolve, sg.oaconvolve, sg.correlate)
    pairs = {
        "longer": (x, v),
        "shorter": (v, x),
        "complex": (z, v + 0.5j),
        "planes": (draw(4, 5), draw(2, 3)),
    }
    return [
        *(
            Case(f, (*pair, mode), label=f"{label}-{mode}", options=PLAIN)
            for f in convolutions
            for mode in ("full", "same", "valid")
            for label, pair in pairs.items()
        ),
        Case(sg.lfilter, (B, A, x), options=PLAIN),
        Case(sg.lfilter, (A, B, x), label="more-zeros", options=PLAIN),
        Case(sg.lfilter, (B, 2.0, x), label="finite", options=PLAIN),
        Case(sg.lfilter, (B + 0.1j, A - 0.2j, z), label="complex", options=PLAIN),
        Case(sg.lfilter, (B, A, draw(4, 3)), {"axis": 0}, "axis", options=PLAIN),
        Case(sg.lfilter, (B, A, draw(2)), label="short", options=PLAIN),
        Case(sg.lfilter, (np.array([0.5]), np.array([2.0]), x), label="gain", options=PLAIN),
        Case(with_state, (B, A, draw(4, 2), draw(3, 2)), options=PLAIN),
        Case(by_filtfilt, (draw(20),), options=PLAIN),
        Case(by_sections, (draw(2, 3), draw(2, 2) / 4, draw(6, 2)), options=PLAIN,
             covers=(sg.sosfilt,)),
        Case(by_sections_with_state, (draw(2, 3), draw(2, 2) / 4, draw(3, 6), draw(2, 3, 2)),
             options=PLAIN),
        *([Case(by_sosfiltfilt, (draw(30),), options=PLAIN)] if KEEPS_SHAPES else []),
        *(
            Case(sg.savgol_filter, (draw(3, 7), 5, 2), {"mode": mode}, mode, options=PLAIN)
            for mode in ("interp", "mirror", "constant", "nearest", "wrap")
        ),
        Case(sg.detrend, (draw(3, 6),), options=PLAIN),
        Case(sg.detrend, (draw(6, 2),), {"axis": 0, "type": "constant"}, "mean", options=PLAIN),
    ]  # fmt: skip
