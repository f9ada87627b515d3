"""Rules for `scipy.spatial.transform`: SciPy has its compiled parts in Python too, from 1.17 on.

That is written for other kinds of arrays, and computes the same.  It takes the norm of a rotation
vector, which has no second derivative at zero: the functions here take its square.  It takes a
matrix that is orthogonal to 1e-12 as it is, others to the nearest orthogonal one: here all are.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import scipy.spatial.transform
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, overlay, zero_derivative
from mooncake_py.rules.plain_values import derived_as

__all__: list[str] = []

SMALL = 1e-6  # squares up to which a series is summed
NAMES = (
    "align_vectors", "apply", "as_davenport", "as_euler", "as_matrix", "as_mrp", "as_quat",
    "compose_quat", "from_davenport", "from_euler", "from_mrp", "from_quat", "inv",
    "magnitude", "mean",
)  # fmt: skip


def from_rotvec(rotvec: Any, degrees: bool = False) -> Any:
    """Return (r sin(a / 2) / a, cos(a / 2)) for a rotation vector r of length a."""
    if rotvec.shape[-1] != 3:
        raise ValueError(f"Expected `rot_vec` to have shape (..., 3), got {rotvec.shape}")
    plain = np.asarray(rotvec)  # SciPy computes with the elements of a matrix too
    r = np.deg2rad(plain) if degrees else plain
    square = np.sum(r * r, axis=-1, keepdims=True)
    is_small = square <= SMALL
    angle = np.sqrt(np.where(is_small, 1.0, square))
    sine = np.where(is_small, 1 / 2 - square / 48 + square**2 / 3840, np.sin(angle / 2) / angle)
    cosine = np.where(is_small, 1 - square / 8 + square**2 / 384, np.cos(angle / 2))
    return np.concatenate([r * sine, cosine], axis=-1)


def as_rotvec(quat: Any, degrees: bool = False) -> Any:
    """Return v 2 atan(t) / t / w with t = abs(v) / w for a quaternion (v, w)."""
    quat = np.where(is_turned(quat), -quat, quat)
    vector, w = quat[..., :3], quat[..., 3:]
    square = np.sum(vector * vector, axis=-1, keepdims=True)
    is_small = square <= SMALL
    size = np.sqrt(np.where(is_small, 1.0, square))
    t = square / np.where(is_small, w, 1.0) ** 2
    series = 2 / np.where(is_small, w, 1.0) * (1 - t / 3 + t * t / 5 - t**3 / 7)
    scale = np.where(is_small, series, 2 * np.arctan2(size, w) / size)
    return vector * (np.rad2deg(scale) if degrees else scale)


def is_turned(quat: Any) -> Any:
    """Return where the first number that is not zero is negative, of w, x, y and z."""
    x, y, z, w = (quat[..., k, None] for k in range(4))
    leading = np.where(w != 0, w, np.where(x != 0, x, np.where(y != 0, y, z)))
    return leading < 0


def power(quat: Any, n: Any) -> Any:
    """Turn by n times the angle; the exponents that SciPy treats apart have a derivative too."""
    turned = from_rotvec(n * as_rotvec(quat))
    if n != 1 and n != -1:
        return turned
    vector, w = turned[..., :3], turned[..., 3:]
    flips = np.sum(quat[..., :3] * vector * n, axis=-1, keepdims=True) + quat[..., 3:] * w < 0
    return np.where(flips, -turned, turned)


def reduce(quat: Any, left: Any = None, right: Any = None) -> Any:
    """Multiply by the elements of two groups that leave the smallest angle, which are held."""
    if left is None and right is None:
        return quat, None, None
    before, after = chosen(quat, left, right)
    reduced = np.reshape(quat, (-1, 4))
    if right is not None:
        reduced = in_python.compose_quat(reduced, right[after])
    if left is not None:
        reduced = in_python.compose_quat(left[before], reduced)
    return reduced, before, after


def chosen(quat: ndarray, left: Any, right: Any) -> Any:
    """Return the places of these elements in the groups."""
    return compiled.reduce(quat, left, right)[1:]


zero_derivative(is_turned, chosen, because="a choice, or a sign")


def orthogonalized(matrix: ndarray) -> ndarray:
    """Return the nearest orthogonal matrices."""
    u, _, vh = np.linalg.svd(matrix)
    return u @ vh


@from_vjp(orthogonalized)
def orthogonalized_rule(matrix: Any) -> Any:
    """M = Q P:  dM = Q Y  with  Y P + P Y = Q' dQ - dQ' Q, skew: (tr(P) - P) y of the axes."""
    q = orthogonalized(matrix)

    def orthogonalized_pullback(dq: ndarray) -> ndarray:
        adjoint = adjoint_matrix(q)
        p, turned = adjoint @ matrix, adjoint @ dq
        skew = turned - adjoint_matrix(turned)
        axes = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
        trace = np.trace(p, axis1=-2, axis2=-1)[..., None, None]
        x, y, z = np.moveaxis(np.linalg.solve(trace * np.eye(3) - p, axes[..., None]), -2, 0)
        rows = [np.stack(row, axis=-1) for row in ((0 * x, -z, y), (z, 0 * x, -x), (-y, x, 0 * x))]
        return q @ np.concatenate(rows, axis=-2)

    return q, orthogonalized_pullback


def from_matrix(matrix: Any, assume_valid: bool = False) -> Any:
    """Return the quaternion of the nearest rotation."""
    if not assume_valid:
        check_matrix(matrix)
        matrix = orthogonalized(np.asarray(matrix))
    return in_python._from_matrix_orthogonal(matrix)


def check_matrix(matrix: ndarray) -> None:
    """Raise SciPy's error for matrices that are not rotations."""
    in_python.from_matrix(np.array(matrix, np.float64))  # which it may write in


zero_derivative(check_matrix, because="raises or not")


def module(name: str) -> Any:
    """Return a private module, None where this version of SciPy has none."""
    try:
        return import_module(f"{scipy.spatial.transform.__name__}.{name}")
    except ImportError:
        return None


compiled, in_python = module("_rotation_cy"), module("_rotation_xp")
if compiled is not None and in_python is not None:
    for name in NAMES:
        derived_as(getattr(compiled, name))(getattr(in_python, name))
    derived_as(compiled.from_matrix)(from_matrix)
    derived_as(compiled.reduce)(reduce)
    for function, name in ((from_rotvec, "from_rotvec"), (as_rotvec, "as_rotvec"), (power, "pow")):
        derived_as(getattr(compiled, name))(function)
        overlay(getattr(in_python, name))(function)
    zero_derivative(compiled.approx_equal, because="true or false")

motions, motions_in_python = module("_rigid_transform_cy"), module("_rigid_transform_xp")
if motions is not None and motions_in_python is not None:
    for name, function in vars(motions).items():
        twin: Any = getattr(motions_in_python, name, None)
        is_own = getattr(function, "__module__", None) == motions.__name__
        if is_own and getattr(twin, "__module__", None) == motions_in_python.__name__:
            derived_as(function)(twin)
