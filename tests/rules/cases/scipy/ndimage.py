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
SMOOTH = {**PLAIN, "special_points": False}
MODES = ("reflect", "mirror", "nearest", "wrap", "constant", "grid-mirror", "grid-wrap")


def into_an_array(x: np.ndarray, weights: np.ndarray) -> Any:
    output = np.zeros((3, 4), np.longdouble).astype(float)
    nd.convolve(x, weights, output)
    nd.gaussian_filter(output, 0.7, output=output)
    return output


def at_points(x: Any, points: Any, order: int = 3, mode: str = "mirror", cval: Any = 0.7) -> Any:
    return nd.map_coordinates(x, points, order=order, mode=mode, cval=cval)


def unfiltered(x: Any, points: Any) -> Any:
    return nd.map_coordinates(x, points, prefilter=False)


def transformed(x: Any, matrix: Any, offset: Any, mode: str = "mirror") -> Any:
    return nd.affine_transform(x, matrix, offset, (2, 5), mode=mode, order=2)


def moved(x: Any, angle: Any) -> Any:
    def mapping(place: tuple[int, ...], by: float) -> Any:
        return place[0] * np.cos(angle) + by, place[1] + np.sin(angle)

    return nd.geometric_transform(x, mapping, order=3, mode="nearest", extra_arguments=(0.3,))


def line_filter(x: Any) -> Any:
    def smooth(line: Any, out: Any) -> None:
        out[...] = line[:-2] * line[2:] + line[1:-1]

    return nd.generic_filter1d(x, smooth, 3, axis=0, mode="constant", cval=0.4)


def interpolation_cases() -> list[Case]:
    x, z, long = draw(4, 5), draw(4, 5, dtype=complex), draw(140)
    points = np.array([[0.4, 2.7, 1.55, -1.3, 3.6], [3.3, 0.15, 2.8, 2.1, 5.45]])
    return [
        *(
            Case(at_points, (x, points, order, mode), label=f"{mode}-{order}", options=SMOOTH)
            for mode in (*MODES, "grid-constant")
            for order in ((1, 3) if mode != "reflect" else (0, 1, 2, 3, 4, 5))
        ),
        Case(at_points, (z, points, 3, "grid-constant", 0.7 + 0.2j), label="complex",
             options=SMOOTH),
        Case(unfiltered, (x, points), options=SMOOTH, covers=(nd.map_coordinates,)),
        *(
            Case(nd.spline_filter1d, (v, order, axis, v.dtype.type, mode),
                 label=f"{v.shape}-{order}-{mode}", options=SMOOTH)
            for v, axis in ((x, 0), (long, 0), (z, 1))
            for order, mode in ((3, "mirror"), (5, "reflect"), (2, "grid-wrap"))
        ),
        Case(nd.spline_filter, (x,), options=SMOOTH),
        Case(nd.shift, (x, np.array([0.4, -1.3])), {"order": 3, "mode": "nearest"}, "both",
             options=SMOOTH),
        Case(nd.shift, (x, 0.4), {"order": 1, "cval": 0.3}, "one", options=SMOOTH),
        *(
            Case(nd.zoom, (x, 1.6), {"mode": mode, "grid_mode": grid}, f"{mode}-{grid}",
                 options=SMOOTH)
            for mode, grid in (("reflect", False), ("grid-constant", True))
        ),
        *(
            Case(nd.rotate, (x, 25.0), {"reshape": reshape, "order": 3, "mode": "wrap"},
                 f"{reshape}", options=SMOOTH)
            for reshape in (False, True)
        ),
        Case(transformed, (x, np.array([[0.9, 0.15], [-0.2, 1.1]]), draw(2)), options=SMOOTH),
        Case(transformed, (x, np.array([0.8, 1.15]), draw(2), "constant"), label="diagonal",
             options=SMOOTH),
        Case(transformed, (x, np.array([[0.9, 0.15, 0.3], [-0.2, 1.1, 0.4]]), 0.0),
             label="homogeneous", options=SMOOTH),
        Case(moved, (x, 0.3), options=SMOOTH),
    ]  # fmt: skip


def rank_cases() -> list[Case]:
    x, line, cross = draw(4, 5), draw(8), np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]], bool)
    return [
        *(
            Case(f, (x, 3), {"mode": mode, "cval": 0.1}, f"{mode}", options=SMOOTH)
            for f in (nd.maximum_filter, nd.minimum_filter, nd.median_filter)
            for mode in ("reflect", "wrap", "constant", "nearest", "mirror")
        ),
        *(
            Case(f, (x, None, cross), {"origin": (0, 1)}, "footprint", options=SMOOTH)
            for f in (nd.maximum_filter, nd.minimum_filter, nd.median_filter)
        ),
        Case(nd.median_filter, (line, 5), label="line", options=SMOOTH),
        Case(nd.rank_filter, (x, 2, (2, 3)), options=SMOOTH),
        Case(nd.percentile_filter, (x, 40, 3), options=SMOOTH),
        Case(nd.maximum_filter1d, (x, 4, 0), {"origin": 1}, options=SMOOTH),
        Case(nd.minimum_filter1d, (x, 3), options=SMOOTH),
        *(
            Case(f, (x,), {"structure": draw(3, 3)}, "structure", options=SMOOTH)
            for f in (nd.grey_dilation, nd.grey_erosion, nd.grey_opening, nd.black_tophat)
        ),
        *(
            Case(f, (x, (2, 3)), options=SMOOTH)
            for f in (nd.grey_closing, nd.morphological_gradient)
        ),
        Case(nd.generic_filter, (x, lambda w: np.sum(w * w) / w[1], 3), options=SMOOTH),
        Case(line_filter, (x,), options=SMOOTH),
    ]  # fmt: skip


def fourier_cases() -> list[Case]:
    z, half = draw(4, 5, dtype=complex), draw(4, 3, dtype=complex)
    return [
        *(
            Case(f, (v, size, n), label=f"{n}", options=SMOOTH)
            for f, size in ((nd.fourier_gaussian, np.array([1.3, 0.6])), (nd.fourier_shift, 0.7))
            for v, n in ((z, -1), (half, 5))
        ),
        *(
            Case(f, (z,), {"size": 2.5}, options=SMOOTH)
            for f in (nd.fourier_uniform, nd.fourier_ellipsoid)
        ),
        Case(nd.fourier_gaussian, (draw(3, 4), 0.8), label="real", options=SMOOTH),
    ]  # fmt: skip


def cases() -> list[Case]:
    """All cases of the family."""
    return [*filter_cases(), *interpolation_cases(), *rank_cases(), *fourier_cases()]


def filter_cases() -> list[Case]:
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
