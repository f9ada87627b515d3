"""Arguments that functions take in forms which few programs use: lists, booleans, empty arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp

X = np.array([1.3, 0.7, 2.1])

NUMPY: list[Callable[[Any], Any]] = [
    lambda x: np.interp(x, [0.0, 1.0, 3.0], [False, True, False]).sum(),
    lambda x: np.interp(x[0] - 1, [False, True], x[:2]),
    lambda x: np.interp([x[0] - 1], [0.0, 1.0], np.array([True, False])).sum(),
    lambda x: np.median(np.outer(x, x), axis=[0]).sum(),
    lambda x: np.nanmedian(np.outer(x, x), axis=[0, 1], keepdims=True).sum(),
    lambda x: np.frexp(np.array([1.0, np.inf]) * x[0])[0][0],
    lambda x: np.floor_divide([x[0], x[1]], 0.3).sum() * x[1],
    lambda x: np.floor_divide([[x[0]], [1.0]], [x[1], x[2]]).sum() * x[1],
    lambda x: np.sum(np.sort(np.outer(x, x[::-1] + 2), axis=True) * x),
    lambda x: np.sum(np.partition(np.outer(x, x[::-1] + 2), 1, axis=True) * x),
    lambda x: np.sum(np.median(x, axis=()) * x),
    lambda x: np.median(np.outer(x, x), axis=np.array([1])).sum(),
    lambda x: np.sum(np.outer(x, x), axis=np.array(1))[0],
    lambda x: np.max(np.outer(x, x), axis=np.array(0))[0],
    lambda x: np.prod(np.tile(x, 1.0)) + np.tile(x[0], (True, 2)).sum(),
    lambda x: np.fmax(x[0], -(10**20)) + np.fmin(x, 2**64).sum(),
    lambda x: np.fmax(10**20, x[:2]).sum() * x[0],
]


@pytest.mark.parametrize("f", NUMPY)
def test_numpy(f: Callable[[Any], Any]) -> None:
    check(f)


RAISING: list[Callable[[Any], Any]] = [
    lambda x: np.clip(x[None], 0, 1, out=np.zeros(3)),
    lambda x: np.clip(x, x[None], 1, out=np.zeros(3)),
    lambda x: np.clip(x, 0, 1, out=np.zeros(2)),
    lambda x: np.random.RandomState(1).choice(np.outer(x, x)),
    lambda x: np.random.RandomState(1).choice(np.array(x[0])),
    lambda x: np.random.default_rng(1).choice(x[0]),
    lambda x: np.cross(x, x, axis=(0,)),
]


@pytest.mark.parametrize("f", RAISING)
def test_what_numpy_refuses_is_refused(f: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as plain:
        f(X)
    for derivative in (
        lambda: grad(lambda x: np.sum(f(x)))(X),
        lambda: jvp(f, (X,), (X,)),
    ):
        with pytest.raises(plain.type, match=re.escape(str(plain.value))):
            derivative()


IMAGES: list[Callable[[Any, Any], Any]] = [
    lambda nd, e: nd.gaussian_filter(e, 1.0),
    lambda nd, e: nd.sobel(e),
    lambda nd, e: nd.laplace(e),
    lambda nd, e: nd.uniform_filter(e, 3),
    lambda nd, e: nd.convolve(e, [1.0, 2.0, 1.0]),
    lambda nd, e: nd.correlate1d(e, [1.0, 2.0, 1.0]),
    lambda nd, e: nd.maximum_filter(e, 3),
    lambda nd, e: nd.minimum_filter1d(e, 3),
    lambda nd, e: nd.fourier_gaussian(e, 0.5).real,
]


@pytest.mark.parametrize("f", IMAGES)
def test_filters_of_empty_images(f: Callable[[Any, Any], Any]) -> None:
    nd = pytest.importorskip("scipy.ndimage")
    check(lambda x: f(nd, x[x > 9]).sum() + x[0])


def test_convolutions_with_an_empty_kernel() -> None:
    sg = pytest.importorskip("scipy.signal")
    check(lambda x: sg.convolve2d(np.outer(x, x), np.ones((2, 0))).sum() + x[0])


LISTS: list[Callable[[Any, Any], Any]] = [
    lambda sp, x: sp.fresnel([x[0], 2.0])[0],
    lambda sp, x: sp.sici((x[0], x[1]))[1],
    lambda sp, x: sp.shichi([[x[0], 2.0], [1.0, x[2]]])[0],
    lambda sp, x: sp.ellipj([x[0], x[1]], [[0.3], [0.5]])[2],
    lambda sp, x: sp.airy([x[0], x[1]])[3],
]


@pytest.mark.parametrize("f", LISTS)
def test_special_functions_of_lists(f: Callable[[Any, Any], Any]) -> None:
    sp = pytest.importorskip("scipy.special")
    check(lambda x: (f(sp, x) * np.array([1.0, 2.0])).sum())


def check(f: Callable[[Any], Any]) -> None:
    """Compare value, gradient and tangents with the plain function and its differences."""
    h = 1e-6
    expected = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    for e, slope in zip(np.eye(3), expected, strict=True):
        y, dy = jvp(f, (X,), (e,))
        assert y == f(X)
        np.testing.assert_allclose(dy, slope, rtol=1e-6, atol=1e-8)


class Tenth(float):
    """A number of its own class, which SciPy takes for its integer part."""


KINDS = [np.float32(1), np.int64(2), True, 2.0, Tenth(1.1), "T", None, 1.5]


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("trans", KINDS, ids=repr)
def test_which_system_is_solved(trans: Any, is_complex: bool) -> None:
    sl = pytest.importorskip("scipy.linalg")
    rng = np.random.default_rng(3)

    def drawn(*shape: int) -> Any:
        x = rng.normal(size=shape)
        return x + 1j * rng.normal(size=shape) if is_complex else x

    a, b, w, d = np.tril(drawn(3, 3)) + 3 * np.eye(3), drawn(3), drawn(3), np.tril(drawn(3, 3))
    solvers: list[Callable[[Any], Any]] = [lambda a: sl.solve_triangular(a, b, trans, True)]
    if type(trans) is not str:
        solvers.append(lambda a: sl.lu_solve(sl.lu_factor(a), b, trans))
    for solve in solvers:

        def f(a: Any, solve: Callable[[Any], Any] = solve) -> Any:
            return np.sum((solve(a) * w).real)

        slope = (f(a + 1e-6 * d) - f(a - 1e-6 * d)) / 2e-6
        assert np.sum((np.conj(grad(f)(a)) * d).real) == pytest.approx(slope, rel=1e-6)
        assert jvp(f, (a,), (d,)) == (f(a), pytest.approx(slope, rel=1e-6))
