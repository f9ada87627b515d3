"""Interpolation of scattered data: radial functions, and planes over triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as si
from numpy import ndarray
from scipy.spatial import KDTree

from mooncake_py.rules.declare import overlay, refused, zero_derivative
from mooncake_py.rules.plain_values import derived_as, same_values
from mooncake_py.rules.scipy.interpolate.grids import coordinates

try:
    import scipy.interpolate._rbfinterp_pythran as radial
except ImportError:  # private: another version of SciPy may keep it elsewhere
    radial: Any = None

__all__: list[str] = []

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
    """Return what the coefficients are multiplied by."""
    k = kernel_values(x * epsilon, y * epsilon, kernel)
    return np.concatenate([k, monomials((x - shift) / scale, powers)], axis=1)


if radial is not None:
    derived_as(radial._build_system)(build_system)
    derived_as(radial._build_evaluation_coefficients)(build_coefficients)
    derived_as(radial._polynomial_matrix)(monomials)


# Triangles.


def corners_around(tri: Any, x: ndarray) -> tuple[ndarray, ndarray]:
    """Return the numbers of the corners of the triangle around each point, and if there is one."""
    found = tri.find_simplex(x)
    return tri.simplices[found], found >= 0


def triangulation(points: ndarray, rescale: bool) -> Any:
    """Return Delaunay's triangles, of points scaled to unit size if asked for."""
    return plain_linear(points, np.zeros(len(points)), rescale=rescale).tri


def plain_values(tri: Any, values: ndarray, fill_value: Any, x: ndarray) -> ndarray:
    """Return what SciPy computes over triangles."""
    return plain_linear(tri, values, fill_value)(x)


zero_derivative(corners_around, triangulation, because="which points are neighbours")
zero_derivative(plain_values, because="held: the replacement has the derivative")
plain_linear = si.LinearNDInterpolator


class LinearInterpolant:
    """What an interpolator is within a derivative; `scale` is for the choice of triangles."""

    def __init__(
        self, points: Any, values: Any, fill_value: Any, tri: Any, offset: Any, scale: Any
    ) -> None:
        self.points = points
        self.values = values
        self.fill_value = fill_value
        self.tri = tri
        self.offset = offset
        self.scale = scale

    def __call__(self, *args: Any) -> Any:
        x = coordinates(args, self.points.shape[1])
        return self.evaluate(np.reshape(x, (-1, x.shape[-1])), x.shape[:-1])

    def evaluate(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Weigh the corners of triangles; both are scaled where the triangles were chosen."""
        corners, inside = corners_around(self.tri, (x - self.offset) / self.scale)
        places, values = self.points[corners], self.values[corners]
        sides = places[:, :-1] - places[:, -1:]
        weights = np.linalg.solve(np.swapaxes(sides, 1, 2), (x - places[:, -1])[..., None])[..., 0]
        last = 1 - np.sum(weights, axis=1, keepdims=True)
        y = np.einsum("ip,ip...->i...", np.concatenate([weights, last], axis=1), values)
        y = np.where(inside.reshape([-1] + [1] * (y.ndim - 1)), y, self.fill_value)
        y = y.reshape(shape + self.values.shape[1:])
        scaled = np.reshape((x - self.offset) / self.scale, (*shape, -1))
        return same_values(y, plain_values(self.tri, self.values, self.fill_value, scaled))


@overlay(si.LinearNDInterpolator)
def linear_interpolator(
    points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False
) -> LinearInterpolant:
    points = coordinates(points)
    offset: Any = np.mean(points, axis=0) if rescale else 0.0
    scale: Any = np.ptp(points, axis=0) if rescale else 1.0
    tri = triangulation(points, rescale)
    return LinearInterpolant(points, np.asarray(values), fill_value, tri, offset, scale)


@overlay(si.LinearNDInterpolator.__call__)
def call(self: Any, *args: Any) -> Any:
    """Evaluate an interpolator that was made outside; others have the same method."""
    if not isinstance(self, plain_linear):
        return call_other(self, *args)
    offset, scale = (0.0, 1.0) if self.scale is None else (self.offset, self.scale)
    points = self.points * scale + offset
    values = np.reshape(self.values, (-1, *self.values_shape))
    found = LinearInterpolant(points, values, self.fill_value, self.tri, offset, scale)
    return found(*args)


def call_other(self: Any, *args: Any) -> Any:
    """Evaluate an interpolator of another class."""
    return self(*args)


refused(
    si.CloughTocher2DInterpolator,
    call_other,
    why="its gradients at the points come from an iteration in compiled code",
    fix="LinearNDInterpolator and RBFInterpolator have derivatives",
)


# The nearest point.


class NearestInterpolant:
    """What an interpolator is within a derivative: the value of the nearest point."""

    def __init__(self, points: Any, values: Any, rescale: bool, options: Any) -> None:
        points = coordinates(points)
        self.values = np.asarray(values)
        self.offset: Any = np.mean(points, axis=0) if rescale else 0.0
        self.scale: Any = np.ptp(points, axis=0) if rescale else 1.0
        self.dimensions = points.shape[1]
        self.tree = KDTree((points - self.offset) / self.scale, **(options or {}))

    def __call__(self, *args: Any, **options: Any) -> Any:
        x = (coordinates(args, self.dimensions) - self.offset) / self.scale
        found = self.tree.query(x, **options)[1]
        return nearest_values(self.values, found)


def nearest_values(values: Any, found: Any) -> Any:
    """Return the values of points; nan where none is near enough."""
    absent = found == len(values)
    y = values[np.where(absent, 0, found)]
    return np.where(absent.reshape(absent.shape + (1,) * (y.ndim - absent.ndim)), np.nan, y)


plain_nearest: Any = si.NearestNDInterpolator


@overlay(plain_nearest)
def nearest_interpolator(
    x: Any, y: Any, rescale: bool = False, tree_options: Any = None
) -> NearestInterpolant:
    return NearestInterpolant(x, y, rescale, tree_options)
