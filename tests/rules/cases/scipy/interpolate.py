"""Cases for `scipy.interpolate`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.interpolate as si

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

NODES = np.array([0.0, 0.7, 1.5, 2.2, 3.0, 3.4, 4.1])
KNOTS = np.array([-0.6, -0.3, -0.1, 0.0, 0.9, 1.1, 2.05, 4.1, 4.2, 4.4, 4.5])
REPEATED = np.array([0.0, 0.0, 0.0, 0.0, 1.1, 1.1, 2.0, 4.1, 4.1, 4.1, 4.1])
INSIDE = np.array([0.2, 1.15, 2.7, 3.95, 2.0])
OUTSIDE = np.array([-0.4, 1.3, 4.6])
INNER = np.array([1.3, 2.6])

EXACT = {"rtol": 1e-14, "atol": 1e-14}  # SciPy solves by iterations, up to 1e-5 by default


def evaluated(t: Any, c: Any, x: Any, nu: int = 0, extrapolate: Any = True, axis: int = 0) -> Any:
    return si.BSpline(t, c, 3, extrapolate, axis)(x, nu)


def inside_only(t: Any, c: Any, x: Any) -> Any:
    return si.BSpline(t, c, 3)(x, extrapolate=False)[1:2]


def on_repeated_knots(c: Any, x: Any, nu: int = 0) -> Any:
    return si.BSpline(REPEATED, c, 3)(x, nu)


def integrated(t: Any, c: Any, a: Any, b: Any, extrapolate: Any = True) -> Any:
    return si.BSpline(t, c, 3).integrate(a, b, extrapolate)


def derivative(t: Any, c: Any) -> Any:
    spline = si.BSpline(t, c, 3)
    return spline.derivative(2)(INSIDE), spline.antiderivative()(INSIDE)


def interpolated(x: Any, y: Any, points: Any, k: int = 3, bc_type: Any = None) -> Any:
    return si.make_interp_spline(x, y, k, bc_type=bc_type)(points)


def closed(x: Any, y: Any, points: Any, k: int) -> Any:
    return si.make_interp_spline(x, np.append(y, y[0]), k, bc_type="periodic")(points)


def clamped_at(y: Any, slopes: Any) -> Any:
    ends = [(1, slopes[0])], [(2, slopes[1])]
    return si.make_interp_spline(NODES, y, bc_type=ends)(INSIDE)


def fitted(x: Any, y: Any, w: Any, method: str = "qr") -> Any:
    t = np.concatenate([np.full(3, -0.1), INNER, np.full(3, 4.2)])
    return si.make_lsq_spline(x, y, t, 2, w, method=method).c


def by_splrep(x: Any, y: Any, points: Any, k: int = 3, ext: int = 0, nu: int = 0) -> Any:
    return si.splev(points, si.splrep(x, y, k=k), nu, ext)


def by_splrep_with_knots(x: Any, y: Any, w: Any) -> Any:
    return si.splev(INSIDE, si.splrep(x, y, w, t=INNER))


def by_splint(y: Any, a: Any, b: Any) -> Any:
    return si.splint(a, b, si.splrep(NODES, y))


def by_class(x: Any, y: Any, points: Any, k: int = 3, ext: int = 0) -> Any:
    spline = si.UnivariateSpline(x, y, k=k, s=0, ext=ext)
    return spline(points), spline(points[:1], 1), spline.integral(0.3, 2.2)


def by_interpolating_class(y: Any) -> Any:
    return si.InterpolatedUnivariateSpline(NODES, y, bbox=[-0.5, 4.5]).derivative()(INSIDE)


def by_squares(x: Any, y: Any, w: Any) -> Any:
    spline = si.LSQUnivariateSpline(x, y, INNER, w)
    return spline(INSIDE), spline.get_residual()


def on_grid(x: Any, y: Any, z: Any, points: Any, nu: int = 0) -> Any:
    spline = si.RectBivariateSpline(x, y, z, kx=3, ky=2)
    return spline(points, points, dx=nu), spline.ev(points, points[::-1], dy=nu)


def integral_of_pieces(x: Any, y: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    return si.CubicSpline(x, y).integrate(a, b, extrapolate)


ROWS, COLUMNS = np.array([0.0, 0.7, 1.5, 2.2, 3.0, 3.6]), np.array([0.0, 1.0, 1.6, 2.9, 3.3, 4.0])
PLACES = np.array([[0.3, 0.45], [2.9, 1.7], [1.05, 3.85]])
SITES = np.array([[0.1, 0.3], [1.2, -0.4], [0.5, 1.6], [2.0, 0.9], [1.7, 1.9], [0.2, 1.1]])
WITHIN = np.array([[0.8, 0.55], [1.3, 1.2], [0.6, 1.05]])
OUTER = np.array([[0.8, 0.55], [4.0, 1.2]])
nearest_class: Any = si.NearestNDInterpolator
made_outside = si.LinearNDInterpolator(SITES, np.cos(np.arange(12.0)).reshape(6, 2), rescale=True)


def on_regular_grid(values: Any, places: Any, method: str = "linear", nu: Any = None) -> Any:
    options = {} if nu is None else {"nu": nu}
    solver: dict[str, Any] = {"solver_args": EXACT} if method in ("cubic", "quintic") else {}
    grid = si.RegularGridInterpolator((ROWS, COLUMNS), values, method, **solver)
    return grid(places, **options)


def on_moving_grid(x: Any, y: Any, values: Any, places: Any) -> Any:
    return si.RegularGridInterpolator((x, y), values)(places)


def beyond_the_grid(values: Any, places: Any, fill_value: Any) -> Any:
    grid = si.RegularGridInterpolator((ROWS,), values, bounds_error=False, fill_value=fill_value)
    return grid(places)


def by_interpn(values: Any, places: Any, method: str) -> Any:
    return si.interpn((ROWS, COLUMNS), values, places, method)


def by_radial(y: Any, d: Any, x: Any, kernel: str, **options: Any) -> Any:
    return si.RBFInterpolator(y, d, kernel=kernel, **options)(x)


def over_triangles(points: Any, values: Any, x: Any, rescale: bool = False) -> Any:
    return si.LinearNDInterpolator(points, values, -2.0, rescale)(x)


def from_outside(x: Any) -> Any:
    return made_outside(x)


def by_griddata(values: Any, x: Any, method: str, **options: Any) -> Any:
    return si.griddata(SITES, values, x, method, **options)


def grid_cases() -> list[Case]:
    values, options = draw(6, 6), {**PLAIN, "special_points": False}
    return [
        *(
            Case(on_regular_grid, (v, PLACES, method), label=f"{method}-{kind}", options=options)
            for method in ("linear", "nearest", "slinear", "pchip", "cubic_legacy")
            for kind, v in (("plane", values), ("columns", draw(6, 6, 2)))
        ),
        *(
            Case(on_regular_grid, (values, PLACES, method, nu), label=f"{method}-{nu}",
                 options=options)
            for method, nu in (("cubic", None), ("cubic", (1, 0)), ("quintic", None))
        ),
        Case(on_regular_grid, (draw(6, 6, dtype=complex), PLACES), label="complex",
             options=options),
        Case(on_moving_grid, (ROWS, COLUMNS, values, PLACES), options=options),
        Case(beyond_the_grid, (draw(6), np.array([[0.2], [4.5], [-1.0]]), None), label="linear",
             options=options),
        Case(beyond_the_grid, (draw(6), np.array([[0.2], [4.5]]), 0.7), label="filled",
             options=options),
        *(
            Case(by_interpn, (values, PLACES, method), label=method, options=options)
            for method in ("linear", "splinef2d")
        ),
    ]  # fmt: skip


def scattered_cases() -> list[Case]:
    d, options = draw(6, 2), {**PLAIN, "special_points": False}
    return [
        *(
            Case(by_radial, (SITES, d, WITHIN, kernel), {"epsilon": 0.8}, kernel, options=options)
            for kernel in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian")
        ),
        *(
            Case(by_radial, (SITES, d, WITHIN, kernel), label=kernel, options=options)
            for kernel in ("linear", "thin_plate_spline", "cubic")
        ),
        Case(by_radial, (SITES, d[:, 0], WITHIN, "cubic"), {"neighbors": 5, "smoothing": 0.1},
             "neighbours", options=options),
        *(
            Case(over_triangles, (SITES, v, x, rescale), label=f"{kind}-{rescale}",
                 options=options)
            for kind, v, x in (("columns", d, WITHIN), ("filled", d[:, 0], OUTER))
            for rescale in (False, True)
        ),
        Case(from_outside, (WITHIN,), options=options, covers=(
            si.LinearNDInterpolator, si.LinearNDInterpolator.__call__, nearest_class)),
        *(
            Case(by_griddata, (d, WITHIN, method), label=method, options=options)
            for method in ("linear", "nearest")
        ),
        *(
            Case(by_griddata, (d, WITHIN, "linear"), {name: 1e12}, name, options=options)
            for name in ("simplex_tolerance",)  # SciPy 1.18
            if name in inspect.signature(si.griddata).parameters
        ),
    ]  # fmt: skip


def cases() -> list[Case]:
    """All cases of the family."""
    return [*spline_cases(), *grid_cases(), *scattered_cases()]


def spline_cases() -> list[Case]:
    c, pairs, z, y = draw(7), draw(7, 2), draw(7, dtype=complex), draw(7)
    options = {**PLAIN, "special_points": False}
    return [
        *(
            Case(evaluated, (KNOTS, c, INSIDE[:4], nu), label=f"{nu}", options=options)
            for nu in range(5)
        ),
        *(
            Case(on_repeated_knots, (c, INSIDE[:4], nu), label=f"{nu}", options=options)
            for nu in (0, 1)
        ),
        Case(evaluated, (KNOTS, pairs, OUTSIDE), label="columns", options=options),
        Case(evaluated, (KNOTS, z, INSIDE), label="complex", options=options),
        Case(evaluated, (KNOTS, c, OUTSIDE[:2], 1, "periodic"), label="periodic", options=options),
        Case(evaluated, (KNOTS, pairs.T.copy(), INSIDE, 0, True, 1), label="axis", options=options),
        Case(inside_only, (KNOTS, c, OUTSIDE), options=options),
        *(
            Case(integrated, (KNOTS, c, a, b, extrapolate), label=f"{a}-{extrapolate}",
                 options=options)
            for a, b, extrapolate in ((0.3, 5.0, True), (3.0, 0.2, False), (-1.0, 9.0, "periodic"))
        ),
        Case(integrated, (KNOTS, pairs, 0.3, 5.0, False), label="columns", options=options),
        Case(derivative, (KNOTS, c), options=options),
        *(
            Case(interpolated, (NODES, y, INSIDE[:4] + 0.01, k), label=f"degree-{k}",
                 options=options)
            for k in (1, 2, 3, 4, 5)
        ),
        *(
            Case(interpolated, (NODES, y, INSIDE, 3, bc), label=f"{bc}", options=options)
            for bc in ("natural", "clamped")
        ),
        Case(interpolated, (NODES, z, INSIDE), label="complex", options=options),
        Case(interpolated, (NODES, pairs, INSIDE), label="columns", options=options),
        *(Case(closed, (NODES, y[:6], INSIDE, k), label=f"{k}", options=options) for k in (2, 3)),
        Case(closed, (NODES[:4], y[:3], INSIDE, 4), label="few", options=options),
        Case(clamped_at, (y, draw(2)), options=options),
        *(
            Case(fitted, (NODES, v, np.abs(draw(7)) + 0.5, method), label=f"{method}-{kind}",
                 options=options)
            for method in ("qr", "norm-eq")
            for kind, v in (("real", y), ("columns", pairs), ("complex", z))
        ),
        *(
            Case(by_splrep, (NODES, y, INSIDE[:4] + 0.01, k), label=f"degree-{k}",
                 options=options, covers=(si.splrep,))
            for k in (1, 2, 3, 4, 5)
        ),
        *(
            Case(by_splrep, (NODES, y, OUTSIDE, 3, ext), label=f"ext-{ext}", options=options)
            for ext in (0, 1, 3)
        ),
        Case(by_splrep, (NODES, y, INSIDE, 3, 0, 2), label="derivative", options=options),
        Case(by_splrep_with_knots, (NODES, y, np.abs(draw(7)) + 0.5), options=options),
        Case(by_splint, (y, -0.3, 2.9), options=options),
        Case(by_class, (NODES, y, INSIDE), options=options),
        Case(by_class, (NODES, y, OUTSIDE, 2, 1), label="zeros", options=options),
        Case(by_interpolating_class, (y,), options=options),
        Case(by_squares, (NODES, y, np.abs(draw(7)) + 0.5), options=options),
        *(
            Case(on_grid, (NODES[:5], NODES[1:], draw(5, 6), np.array([0.9, 1.31, 1.7, 2.9]), nu),
                 label=f"{nu}", options=options)
            for nu in (0, 1)
        ),
        *(
            Case(integral_of_pieces, (NODES, v, a, b), label=label, options=options)
            for label, v, a, b in (("real", y, 0.3, 5.0), ("complex", z, 2.6, -0.5),
                                   ("columns", pairs, 1.5, 1.7))
        ),
        Case(integral_of_pieces, (NODES[:5], y[:5], 0.3, 9.9, "periodic"), label="periodic",
             options=options),
    ]  # fmt: skip
