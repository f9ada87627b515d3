"""Operands of lower precision than the result: derivatives are those at the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp
from tests.support.pairs import rotating

X = np.array([1.3, 2.1, 0.7])
NARROW = (np.float16, np.float32, np.int8, np.uint8, np.int16, np.uint64, np.bool_)


def quotients(x: Any, w: Any) -> Any:
    return np.sum(x / w + w / x)


def in_place(x: Any, w: Any) -> Any:
    y = x * x
    y /= w
    y *= w
    np.divide(y, w, out=y)
    return np.sum(y * x)


def numbers(x: Any, w: Any) -> Any:
    s = w[0]
    return x[0] / s + s / x[1] + np.sum(x / s) + x[1] * s + s * np.tanh(x[2]) / 3.0


def angles(x: Any, w: Any) -> Any:
    return np.sum(np.arctan2(x, w) + np.arctan2(w, x) + np.hypot(x, w))


def powers(x: Any, w: Any) -> Any:
    return np.sum(x**w + w**x + np.float_power(x, w))


def exponentials(x: Any, w: Any) -> Any:
    return np.sum(np.logaddexp(x, w) + np.logaddexp2(w, x) + np.fmod(5 * x, w))


def inner_products(x: Any, w: Any) -> Any:
    return np.dot(w, x) / 3 + (x @ w) / 7 + np.sum(np.outer(x, w) * x / 3)


@pytest.mark.sampled(3)
@pytest.mark.without_modes(
    "plain Python takes numbers of Python next to float32 for float32", "compiled"
)
@pytest.mark.parametrize(
    ("f", "dtype"),
    rotating(
        [quotients, in_place, numbers, angles, powers, exponentials, inner_products],
        NARROW,
        times=2,
    ),
)
def test_derivatives_have_the_precision_of_the_result(f: Any, dtype: Any) -> None:
    w = np.array([1.7, 3.1, 99.0]).astype(dtype)
    value, wide = f(X, w), w.astype(float)
    assert_allclose(value, f(X, wide), rtol=1e-12)
    expected = grad(f)(X, wide)
    assert_allclose(grad(f)(X, w), expected, rtol=1e-13)
    t = np.array([0.3, -1.0, 0.5])
    assert_allclose(jvp(lambda x: f(x, w), (X,), (t,))[1], expected @ t, rtol=1e-13)


LARGE = np.array([2**64 - 2048, 2**63, 3], np.uint64)


@pytest.mark.parametrize("f", [quotients, in_place, numbers, angles, inner_products])
def test_unsigned_ints_above_those_of_int64(f: Any) -> None:
    wide = LARGE.astype(float)
    assert_allclose(grad(f)(X, LARGE), grad(f)(X, wide), rtol=1e-13)
    assert_allclose(jvp(lambda x: f(x, LARGE), (X,), (X,))[1], grad(f)(X, wide) @ X, rtol=1e-13)


COMPLEX: dict[str, tuple[Any, Any]] = {
    "power": (lambda x: np.power(x, 0.5, dtype=complex), lambda x: np.power(x + 0j, 0.5)),
    "power-of-powers": (
        lambda x: np.power(x, x[::-1], dtype=complex), lambda x: np.power(x + 0j, x[::-1] + 0j)
    ),
    "float-power": (
        lambda x: np.float_power(x, x + 0.1, dtype=complex), lambda x: np.power(x + 0j, x + 0.1)
    ),
    "outer": (
        lambda x: np.power.outer(x, [0.5, 1.3], dtype=complex),
        lambda x: np.power(x[:, None] + 0j, np.array([0.5, 1.3])),
    ),
    "number": (lambda x: np.power(x[1], x[0], dtype=complex), lambda x: (x[1] + 0j) ** x[0]),
    "arcsin": (lambda x: np.arcsin(x, dtype=complex), lambda x: np.arcsin(x + 0j)),
    "arccos-number": (lambda x: np.arccos(x[2], dtype=complex), lambda x: np.arccos(x[2] + 0j)),
    "out": (
        lambda x: np.arccosh(x, dtype=complex, out=np.ones(4, complex)),
        lambda x: np.arccosh(x + 0j),
    ),
    "where": (
        lambda x: np.sqrt(x, dtype=complex, where=x < 2, out=np.ones(4, complex)),
        lambda x: np.where(x < 2, np.sqrt(x + 0j), 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("f", "plain"), COMPLEX.values(), ids=COMPLEX)
def test_real_operands_of_a_complex_loop_are_complex(f: Any, plain: Any) -> None:
    x, t = np.array([0.7, -1.3, 2.1, -0.4]), np.array([0.3, -1.0, 0.5, 2.0])

    def real(g: Any) -> Any:
        return lambda x: np.sum(g(x).real - 2 * g(x).imag)

    assert_allclose(f(x), plain(x), rtol=1e-14)
    expected = grad(real(plain))(x)
    assert_allclose(grad(real(f))(x), expected, rtol=1e-12)
    assert_allclose(jvp(real(f), (x,), (t,))[1], expected @ t, rtol=1e-12)
