"""Cases for `scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as nd

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

# SciPy 1.17 gives wrong values for arrays with a stride of 0.
PLAIN = {"layouts": False, "dtypes": False}
MODES = ("reflect", "mirror", "nearest", "wrap", "constant", "grid-mirror", "grid-wrap")


def into_an_array(x: np.ndarray, weights: np.ndarray) -> Any:
    output = np.zeros((3, 4), np.longdouble).astype(float)
    nd.convolve(x, weights, output)
    nd.gaussian_filter(output, 0.7, output=output)
    return output


def cases() -> list[Case]:
    """All cases of the family."""
    x, w, z = draw(3, 4), draw(2, 3), draw(3, 4, dtype=complex)
    return [
        *(
            Case(f, (x, w, None, mode, 0.5), label=mode, options=PLAIN)
            for f in (nd.correlate, nd.convolve)
            for mode in MODES
        ),
        *(
            Case(f, (v, u), {"origin": origin}, f"{k}-{origin}", options=PLAIN)
            for f in (nd.correlate, nd.convolve)
            for k, v, u in (("complex", z, w), ("complex-weights", z, w + 0.3j), ("real", x, w))
            for origin in (0, (-1, 1))
        ),
        Case(nd.convolve, (x, draw(5, 7)), label="larger", options=PLAIN),
        Case(nd.correlate, (draw(5), draw(4)), label="vector", options=PLAIN),
        *(
            Case(f, (x, draw(4), axis, None, mode, 0.3, origin), label=f"{axis}-{mode}-{origin}",
                 options=PLAIN)
            for f in (nd.correlate1d, nd.convolve1d)
            for axis, mode, origin in ((0, "reflect", 0), (-1, "constant", 1), (1, "wrap", -2))
        ),
        Case(nd.uniform_filter1d, (x, 3, 0), label="odd", options=PLAIN),
        Case(nd.uniform_filter1d, (x, 4), {"mode": "constant", "cval": 2.0, "origin": 1}, "even",
             options=PLAIN),
        Case(into_an_array, (x, w), options=PLAIN),
        *(
            Case(f, (x, *rest), label="derived", options=PLAIN)
            for f, rest in ((nd.gaussian_filter, (1.0,)), (nd.gaussian_filter1d, (0.7, 0, 1)),
                            (nd.uniform_filter, (3,)), (nd.laplace, ()), (nd.sobel, ()))
        ),
    ]  # fmt: skip
