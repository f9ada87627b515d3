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


def by_state(b: Any, a: Any, x: np.ndarray, zi: np.ndarray, axis: int = -1) -> Any:
    return sg.lfilter(b, a, x, axis, zi)


def by_sosfiltfilt(x: np.ndarray) -> Any:
    return sg.sosfiltfilt(sg.butter(3, 0.3, output="sos"), x)


def by_filtfilt(x: np.ndarray) -> Any:
    return sg.filtfilt([0.5, 0.3], [1.0, -0.4], x)


def by_filtfilt_of_active(b: Any, a: Any, x: np.ndarray) -> Any:
    return sg.filtfilt(b, a, x)


def highest(x: Any) -> Any:
    peaks, found = sg.find_peaks(x, height=0.2, prominence=0.1, width=0.5, distance=2)
    widths = tuple(found[name] for name in ("widths", "width_heights", "left_ips", "right_ips"))
    return x[peaks], found["peak_heights"], found["prominences"], widths


def of_prominence(x: Any) -> Any:
    return sg.peak_prominences(x, sg.find_peaks(x)[0], wlen=7)[0]


def coded(x: Any) -> Any:
    return (2.0 * sg.max_len_seq(3)[0] - 1) * x


def by_lfiltic(b: Any, a: Any, y: Any, x: Any) -> Any:
    return sg.lfiltic(b, a, y, x)


def upfirdn(h: Any, x: Any, cval: Any, up: int, down: int, axis: int) -> Any:
    return sg.upfirdn(h, x, up, down, axis, "constant", cval)


def plane_cases() -> list[Case]:
    x, k, z = draw(4, 5), draw(2, 3), draw(4, 5, dtype=complex)
    return [
        *(
            Case(f, (x, k, mode, boundary), label=f"{mode}-{boundary}", options=PLAIN)
            for f in (sg.convolve2d, sg.correlate2d)
            for mode in ("full", "same", "valid")
            for boundary in ("fill", "wrap", "symm")
        ),
        *(
            Case(f, pair, label=label, options=PLAIN)
            for f in (sg.convolve2d, sg.correlate2d)
            for label, pair in (("complex", (z, k + 0.3j)), ("swapped", (k, x, "valid")))
        ),
        Case(sg.medfilt, (draw(9) + 3, 5), options=PLAIN),
        Case(sg.medfilt2d, (x + 3, (3, 5)), options=PLAIN),
    ]  # fmt: skip


def resampling_cases() -> list[Case]:
    h, x = draw(5), draw(8)
    return [
        *(
            Case(sg.upfirdn, (h, x, up, down), label=f"{up}-{down}", options=PLAIN)
            for up, down in ((1, 1), (3, 2), (2, 3), (1, 7), (7, 1))
        ),
        *(
            Case(sg.upfirdn, (h, x, 3, 2), {"mode": mode}, mode, options=PLAIN)
            for mode in ("edge", "wrap", "symmetric", "reflect")
        ),
        Case(upfirdn, (h, draw(3, 4), 0.7, 2, 3, 0), options=PLAIN),
        Case(sg.upfirdn, (h + 0.2j, draw(2, 5, dtype=complex), 3, 2), label="complex",
             options=PLAIN),
        Case(sg.upfirdn, (draw(2), draw(5), 3, 4), label="gaps", options=PLAIN),
        Case(sg.resample_poly, (x, 3, 2), options=PLAIN),
        Case(sg.resample_poly, (draw(5, 2), 2, 3), {"padtype": "mean"}, "mean", options=PLAIN),
        Case(sg.decimate, (draw(30), 2), options=PLAIN),
    ]  # fmt: skip


def state_cases() -> list[Case]:
    one = np.array([1.0, -0.4, 0.2, 0.1])
    return [
        *(
            Case(sg.lfilter_zi, pair, label=label, options=PLAIN)
            for label, pair in (("one", (B, one)), ("two", (B, A)), ("zeros", (A, B)),
                                ("complex", (B + 0.1j, A - 0.2j)))
        ),
        Case(by_lfiltic, (B, one, draw(3), draw(2)), options=PLAIN, covers=(sg.lfiltic,)),
        Case(by_filtfilt_of_active, (B, one, draw(20)), options=PLAIN),
    ]  # fmt: skip


def peak_cases() -> list[Case]:
    x = np.sin(1.7 * np.arange(14.0)) + 0.1 * draw(14)
    return [
        Case(highest, (x,), options=PLAIN),
        Case(of_prominence, (np.sin(np.pi / 4 * np.arange(13.0)) + 0.1 * draw(13),),
             options=PLAIN),
        Case(coded, (draw(7),), options=PLAIN, covers=(sg.max_len_seq,)),
    ]  # fmt: skip


def cases() -> list[Case]:
    """All cases of the family."""
    return [
        *filter_cases(), *plane_cases(), *resampling_cases(), *state_cases(), *peak_cases(),
    ]  # fmt: skip


def filter_cases() -> list[Case]:
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
        Case(by_state, (B, np.array([2.0]), x, draw(2)), label="finite", options=PLAIN),
        Case(by_state, (B, A[:1], draw(4, 3), draw(2, 3), 0), label="axis", options=PLAIN),
        Case(by_state, (B, A, draw(2, 4, 3), draw(1, 3, 3), 1), label="spread", options=PLAIN),
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
