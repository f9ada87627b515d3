"""Checks of forward mode and of second derivatives against differences."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from mooncake_py import grad, hvp, jvp

__all__ = ["check_jvp", "check_second", "sixth_order"]

WEIGHTS = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
STEP = 1e-3


def sixth_order(f: Any) -> Any:
    """Return the derivative at zero of a function of one number, by central differences."""
    return sum(w * (f(k * STEP) - f(-k * STEP)) for k, w in WEIGHTS) / STEP


def check_jvp(f: Any, x: np.ndarray, seed: int = 0, rtol: float = 1e-7) -> None:
    """Check value, tangent, the restored argument and a second call; all outputs are arrays.

    Along two directions at once the tangents are the same.
    """
    v = direction(x, seed)
    before = x.copy(order="K")
    expected = sixth_order(lambda t: np.asarray(f(copy.deepcopy(x) + t * v)))
    for _ in range(2):
        y, dy = jvp(f, (x,), (v,))
        np.testing.assert_array_equal(y, f(copy.deepcopy(x)))
        np.testing.assert_allclose(dy, expected, rtol=rtol, atol=1e-8)
        assert np.shape(dy) == np.shape(y)
        np.testing.assert_array_equal(x, before)
    _, (still, along) = jvp(f, (x,), [(np.zeros_like(x),), (v,)])
    np.testing.assert_array_equal(along, dy)
    np.testing.assert_array_equal(still, np.zeros_like(dy))
    np.testing.assert_array_equal(x, before)


def check_second(f: Any, x: np.ndarray, seed: int = 0, rtol: float = 1e-6) -> None:
    """Check the Hessian along a direction, in four ways, and its derivative along another one."""
    v, w = direction(x, seed), direction(x, seed + 1)
    before = x.copy()
    expected = sixth_order(lambda t: grad(f)(x + t * v))
    third = sixth_order(lambda t: hvp(f, (x + t * w,), v))
    ways = {
        "hvp": lambda z: hvp(f, (z,), v),
        "forward over reverse": lambda z: jvp(grad(f), (z,), (v,))[1],
        "reverse over forward": grad(lambda z: jvp(f, (z,), (v,))[1]),
        "reverse over reverse": grad(lambda z: np.sum(grad(f)(z) * v)),
    }
    for name, way in ways.items():
        for _ in range(2):
            np.testing.assert_allclose(way(x), expected, rtol=rtol, atol=1e-7, err_msg=name)
            np.testing.assert_array_equal(x, before, err_msg=name)
        got = jvp(way, (x,), (w,))[1]
        np.testing.assert_allclose(got, third, rtol=1e-5, atol=1e-6, err_msg=f"third, {name}")
    got = grad(lambda z: np.sum(hvp(f, (z,), v) * w))(x)
    np.testing.assert_allclose(got, third, rtol=1e-5, atol=1e-6)


def direction(x: np.ndarray, seed: int) -> Any:
    """Return a random direction of the shape and dtype of an array."""
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(x.shape)
    if np.iscomplexobj(x):
        v = v + 1j * rng.standard_normal(x.shape)
    return v.astype(x.dtype)
