"""Cases for `scipy.spatial.transform`, from SciPy 1.17 on."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.spatial.transform

from tests.rules.cases import PLAIN, Case

__all__ = ["cases"]

transform: Any = scipy.spatial.transform
Rotation = transform.Rotation
HAS_RULES = find_spec("scipy.spatial.transform._rotation_xp") is not None
VECTOR, VECTORS = np.array([0.3, -0.2, 0.5]), np.array([[0.3, -0.2, 0.5], [1.0, 0.2, -2.0]])
FRAME = np.array([[0.9, 0.1, -0.2], [-0.15, 1.1, 0.3], [0.2, -0.25, 0.95]])
SMOOTH = {**PLAIN, "special_points": False}  # such as singular matrices
QUATERNION = np.array([0.1, 0.2, 0.3, 0.9])


def rotation(r: Any) -> Any:
    return Rotation.from_rotvec(r)


# fmt: off
PROGRAMS: dict[str, Callable[..., Any]] = {
    "matrix": lambda r: rotation(r).as_matrix(),
    "rotvec": lambda r: rotation(r * r).as_rotvec(),
    "apply": lambda r: rotation(r).apply(VECTORS) + rotation(VECTORS).apply(r, inverse=True),
    "product": lambda r: (rotation(r) * rotation(VECTOR).inv()).as_quat(),
    "power": lambda r: (rotation(r) ** 0.5).as_matrix() + (rotation(r) ** -2).as_matrix(),
    "magnitude": lambda r: rotation(r).magnitude(),
    "euler": lambda a: Rotation.from_euler("xyz", a).as_euler("ZYX", degrees=True),
    "davenport": lambda a: Rotation.from_davenport(np.eye(3), "extrinsic", a).as_davenport(
        np.eye(3), "intrinsic"
    ),
    "mrp": lambda a: rotation(Rotation.from_mrp(a).as_mrp()).as_quat(),
    "from_matrix": lambda r: Rotation.from_matrix(rotation(r).as_matrix() + 0.01).as_quat(),
}
OF_TWO: dict[str, Callable[..., Any]] = {
    "several": lambda r: rotation(r).as_matrix(),
    "mean": lambda r: rotation(np.vstack([r, -2 * r, r[:, ::-1]])).mean().as_matrix(),
    "picked": lambda r: Rotation.concatenate([rotation(r)[1], rotation(r[0])]).as_rotvec(),
    "slerp": lambda r: transform.Slerp([0, 1], rotation(r))([0.3, 0.6]).as_matrix(),
    "spline": lambda r: transform.RotationSpline([0, 1], rotation(r))(0.3).as_matrix(),
    "aligned": lambda r: Rotation.align_vectors(r, np.eye(2, 3))[0].as_matrix(),
}
# fmt: on


def by(name: str, x: Any) -> Any:
    return (PROGRAMS | OF_TWO)[name](x)


def by_power(r: Any, n: Any) -> Any:
    return (rotation(6 * r) ** n).as_matrix(), (rotation(r[0]) ** n).as_quat()


def by_quaternion(q: Any) -> Any:
    return Rotation.from_quat(q).as_rotvec(), Rotation.from_quat(q).as_quat(canonical=True)


def of_matrix(m: Any) -> Any:
    return Rotation.from_matrix(m).as_quat()


def by_motion(r: Any, v: Any) -> Any:
    motion = transform.RigidTransform.from_components(v, rotation(r))
    return motion.apply(r), motion.inv().as_matrix(), (motion * motion).as_exp_coords()


def cases() -> list[Case]:
    """All cases of the family."""
    if not HAS_RULES:
        return []
    return [
        *(Case(by, (name, VECTOR), label=name, options=PLAIN) for name in PROGRAMS),
        *(Case(by, (name, VECTORS), label=name, options=PLAIN) for name in OF_TWO),
        *(Case(by_power, (VECTORS, n), label=str(n), options=PLAIN) for n in (1.0, -1.0, 0.0)),
        Case(of_matrix, (np.array(rotation(VECTOR).as_matrix()),), label="orthogonal",
             options=SMOOTH),
        Case(of_matrix, (FRAME,), options=SMOOTH),
        Case(of_matrix, (np.stack([FRAME, FRAME.T @ FRAME]),), label="stack", options=SMOOTH),
        Case(by_motion, (VECTOR, VECTORS[1]), options=PLAIN),
        Case(by_quaternion, (QUATERNION,), options=PLAIN),
        Case(by_quaternion, (-QUATERNION,), label="turned", options=PLAIN),
    ]  # fmt: skip
