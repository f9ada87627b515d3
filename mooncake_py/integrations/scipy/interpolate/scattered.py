"""Interpolation of scattered data: radial functions, and planes over triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as si
import scipy.spatial
from numpy import ndarray

from mooncake_py.integrations.scipy.interpolate.grids import coordinates
from mooncake_py.rules.declare import overlay, refused, zero_derivative
from mooncake_py.rules.plain_values import derived_as, same_values
from mooncake_py.rules.stand_ins import StandIn

try:
    import scipy.interpolate._rbfinterp_pythran as radial
except ImportError:  # private: another version of SciPy may keep it elsewhere
    radial: Any = None

__all__: list[str] = []

spatial: Any = scipy.spatial
plain_linear: Any = si.LinearNDInterpolator
plain_nearest: Any = si.NearestNDInterpolator
NDInterpolatorBase: Any = plain_linear.__base__  # of a private module

# Radial functions, smooth at zero where the function is.


def thin_plate_spline(r: Any) -> Any:
    return r**2 * np.log(np.where(r == 0, 1.0, r))


KERNELS: dict[str, Any] = {
    "linear": lambda r: -r,
    "thin_plate_spline": thin_plate_spline,
    "cubic": lambda r: r**3,
    "quintic": lambda r: -(r**5),
    "multiquadric": lambda r: -np.sqrt(r**2 + 1),
    "inverse_multiquadric": lambda r: 1 / np.sqrt(r**2 + 1),
    "inverse_quadratic": lambda r: 1 / (r**2 + 1),
    "gaussian": lambda r: np.exp(-(r**2)),
}


def kernel_values(x: Any, y: Any, kernel: str) -> Any:
    """Return the function of the distance of each point of `x` to each of `y`."""
    return KERNELS[kernel](np.linalg.norm(x[:, None] - y, axis=-1))


def monomials(x: Any, powers: Any) -> Any:
    """Return products of powers of the coordinates."""
    return np.prod(x[:, None, :] ** powers, axis=-1)


def build_system(y: Any, d: Any, smoothing: Any, kernel: str, epsilon: Any, powers: Any) -> Any:
    """Return the matrix, the right-hand sides, and the middle and half the size of the domain."""
    low, high = np.min(y, axis=0), np.max(y, axis=0)
    shift, scale = (high + low) / 2, (high - low) / 2
    scale = np.where(scale == 0, 1.0, scale)
    p = monomials((y - shift) / scale, powers)
    k = kernel_values(y * epsilon, y * epsilon, kernel) + np.diag(smoothing)
    r = len(powers)
    left = np.concatenate(
        [np.concatenate([k, p], axis=1), np.concatenate([p.T, np.zeros((r, r))], axis=1)]
    )
    return left, np.concatenate([d, np.zeros((r, d.shape[1]))]), shift, scale


def build_coefficients(
    x: Any, y: Any, kernel: str, epsilon: Any, powers: Any, shift: Any, scale: Any
) -> Any:
    """Return the factors of the coefficients."""
    k = kernel_values(x * epsilon, y * epsilon, kernel)
    return np.concatenate([k, monomials((x - shift) / scale, powers)], axis=1)


if radial is not None:
    derived_as(radial._build_system)(build_system)
    derived_as(radial._build_evaluation_coefficients)(build_coefficients)
    derived_as(radial._polynomial_matrix)(monomials)


# Triangles.


TOLERANCE = 100 * np.finfo(float).eps
"""How far outside a triangle a point may be; `simplex_tolerance` multiplies it, SciPy 1.18."""


def corners_around(tri: Any, x: ndarray, simplex_tolerance: float = 1.0) -> tuple[ndarray, ndarray]:
    """Return the numbers of the corners of the triangle around each point, and if there is one."""
    found = tri.find_simplex(x, tol=TOLERANCE * simplex_tolerance)
    return tri.simplices[found], found >= 0


def triangulation(points: ndarray) -> Any:
    """Return Delaunay's triangles, as the interpolator makes them."""
    return plain_linear(points, np.zeros(len(points))).tri


def check_triangulation(tri: Any, rescale: bool) -> None:
    """Raise what SciPy raises for triangles that would have to be scaled."""
    plain_linear(tri, np.zeros(len(tri.points)), rescale=rescale)


def plain_values(
    tri: Any, values: ndarray, fill_value: Any, x: ndarray, options: dict[str, float]
) -> ndarray:
    """Return SciPy's interpolation over triangles."""
    return plain_linear(tri, values, fill_value)(x, **options)


zero_derivative(
    corners_around, triangulation, check_triangulation, because="which points are neighbours"
)
zero_derivative(plain_values, because="held: the replacement has the derivative")


class Interpolant(StandIn):
    """Stands for an interpolator within a derivative, with the attributes that SciPy gives it."""

    _stands_for = NDInterpolatorBase
    tri: Any
    offset: Any

    def _set_points(self, points: Any, rescale: bool) -> None:
        """Set the points, with `rescale` those of a unit cube around zero."""
        self.scale = None
        self.points = points
        if rescale:
            self.offset = np.mean(points, axis=0)
            scale = np.ptp(points, axis=0)
            self.scale = np.where(scale > 0, scale, 1.0)
            self.points = (points - self.offset) / self.scale

    def _set_values(self, values: Any, fill_value: Any) -> None:
        """Set the values at the points as a matrix."""
        self.values_shape = values.shape[1:]
        self.values = np.reshape(values, (len(values), -1))
        self.is_complex = bool(np.iscomplexobj(values))
        self.fill_value = fill_value

    def _scaled(self, x: Any) -> Any:
        """Return points of evaluation as the points are scaled."""
        return x if self.scale is None else (x - self.offset) / self.scale


class LinearInterpolant(Interpolant):
    """Stands for an interpolator by planes; its triangles are constant."""

    _stands_for = plain_linear

    def __call__(self, *args: Any, **options: float) -> Any:
        x = coordinates(args, self.points.shape[1])
        return self._evaluate(np.reshape(x, (-1, x.shape[-1])), x.shape[:-1], options)

    def _evaluate(self, x: Any, shape: tuple[int, ...], options: dict[str, float]) -> Any:
        """Weigh the corners of triangles; both are scaled where the triangles were chosen."""
        x = self._scaled(x)
        corners, inside = corners_around(self.tri, x, **options)
        places, values = self.points[corners], self.values[corners]
        sides = places[:, :-1] - places[:, -1:]
        weights = np.linalg.solve(np.swapaxes(sides, 1, 2), (x - places[:, -1])[..., None])[..., 0]
        last = 1 - np.sum(weights, axis=1, keepdims=True)
        y = np.einsum("ip,ip...->i...", np.concatenate([weights, last], axis=1), values)
        y = np.where(inside[:, None], y, self.fill_value)
        y = y.reshape(shape + self.values_shape)
        places = np.reshape(x, (*shape, -1))
        plain = plain_values(self.tri, self.values, self.fill_value, places, options)
        # Of another tolerance SciPy does not say exactly which triangles it takes.
        checked = plain_linear if options.get("simplex_tolerance", 1.0) != 1.0 else None
        return same_values(y, plain.reshape(y.shape), checked)


@overlay(plain_linear)
def linear_interpolator(
    points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False
) -> LinearInterpolant:
    made = LinearInterpolant()
    if isinstance(points, spatial.Delaunay):
        check_triangulation(points, rescale)
        made._set_points(points.points, False)
        made.tri = points
    else:
        made._set_points(coordinates(points), rescale)
        made.tri = triangulation(made.points)
    made._set_values(np.asarray(values), fill_value)
    return made


@overlay(si.LinearNDInterpolator.__call__)
def call(self: Any, *args: Any, **options: Any) -> Any:
    """Evaluate an interpolator that was made outside; others have the same method."""
    if not isinstance(self, plain_linear):
        return call_other(self, *args, **options)
    found = LinearInterpolant()
    for name in ("points", "values", "values_shape", "is_complex", "fill_value", "tri", "scale"):
        setattr(found, name, getattr(self, name))
    if self.scale is not None:
        found.offset = self.offset
    return found(*args, **options)


def call_other(self: Any, *args: Any, **options: Any) -> Any:
    """Evaluate an interpolator of another class."""
    return self(*args, **options)


refused(
    si.CloughTocher2DInterpolator,
    call_other,
    why="its gradients at the points come from an iteration in compiled code",
    fix="LinearNDInterpolator and RBFInterpolator have derivatives",
)


# The nearest point.


class NearestInterpolant(Interpolant):
    """Stands for an interpolator by the value of the nearest point."""

    _stands_for = plain_nearest
    tree: Any

    def __call__(self, *args: Any, **options: Any) -> Any:
        x = self._scaled(coordinates(args, self.points.shape[1]))
        return nearest_values(self.values, self.tree.query(x, **options)[1])


def nearest_values(values: Any, found: Any) -> Any:
    """Return the values of points; nan where none is near enough."""
    absent = np.asarray(found == len(values))
    y = values[np.where(absent, 0, found)]
    return np.where(absent.reshape(absent.shape + (1,) * (y.ndim - absent.ndim)), np.nan, y)


@overlay(plain_nearest)
def nearest_interpolator(
    x: Any, y: Any, rescale: bool = False, tree_options: Any = None
) -> NearestInterpolant:
    made = NearestInterpolant()
    made.tri = None
    made._set_points(coordinates(x), rescale)
    made._set_values(np.asarray(y), np.nan)
    made.values = np.asarray(y)
    made.tree = spatial.cKDTree(made.points, **(tree_options or {}))
    return made
