"""Arrays made of sequences, in forward mode and in what stands on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import from_vjp, grad, hvp, jvp, local_rules
from tests.support.directions import sixth_order

X, DX = np.array([0.3, -1.2, 0.7]), np.array([1.0, 0.5, -2.0])

PROGRAMS = {
    "numbers": lambda x: np.array([x[0] * x[1], 2.0, x[2]]),
    "a tuple": lambda x: np.array((x[0], x[1] ** 2)),
    "rows": lambda x: np.array([[x[0], 1.0], (x[1], x[2] * x[0])]),
    "arrays": lambda x: np.array([x * x, np.ones(3), np.sin(x)]),
    "arrays and numbers": lambda x: np.array([[x[:2], [x[2], 3]], [[1, x[0]], x[1:]]]),
    "another layout": lambda x: np.array([x, x * x], order="F") @ x,
    "more axes": lambda x: np.array([x[0], x[1]], ndmin=3),
    "complex": lambda x: np.array([x[0] * 1j, x[1], 2]),
    "of a given type": lambda x: np.array([[x[0], 1.0], (x[1], x[2] * x[0])], dtype=float),
    "arrays of a given type": lambda x: np.array([x * x, np.ones(3)], np.float64),
    "of numpy": lambda x: np.array([np.float64(2) * x[0], np.int64(3)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_tangents_agree_with_differences(name: str) -> None:
    f = PROGRAMS[name]
    y, dy = jvp(f, (X,), (DX,))
    assert (y.dtype, y.shape, y.strides) == (f(X).dtype, f(X).shape, f(X).strides)
    np.testing.assert_array_equal(y, f(X))
    np.testing.assert_allclose(dy, sixth_order(lambda t: f(X + t * DX)), atol=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_directions_agree_with_each_alone(name: str) -> None:
    f = PROGRAMS[name]
    _, found = jvp(f, (X,), [(DX,), (X,)])
    for dy, direction in zip(found, (DX, X), strict=True):
        np.testing.assert_allclose(dy, jvp(f, (X,), (direction,))[1], rtol=1e-14)


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_agree_with_differences(name: str) -> None:
    f = PROGRAMS[name]

    def loss(x: Any) -> Any:
        y = f(x)
        return np.sum(np.real(y * y * y))

    found = hvp(loss, (X,), DX)
    np.testing.assert_allclose(
        found, sixth_order(lambda t: grad(loss)(X + t * DX)), rtol=1e-7, atol=1e-7
    )


def test_precision_and_whole_numbers() -> None:
    y, dy = jvp(lambda x: np.array([x[0], 1], dtype=np.float32), (X,), (DX,))
    assert y.dtype == dy.dtype == np.float32
    assert jvp(lambda x: np.array([x[0] * 10, 1], dtype=int), (X,), (DX,))[0].dtype == int


def test_the_array_is_new_memory() -> None:
    def f(x: Any) -> Any:
        parts = [x[0], x]
        y = np.array([parts[1], parts[1]])
        x *= 2.0
        return y

    _, dy = jvp(f, (X,), (DX,))
    np.testing.assert_array_equal(dy, [DX, DX])


def test_what_numpy_refuses_passes_unchanged() -> None:
    with pytest.raises(ValueError, match="inhomogeneous"):
        jvp(lambda x: np.array([x, x[:2]]), (X,), (DX,))


def test_a_rule_of_the_users_goes_first() -> None:
    with local_rules():

        @from_vjp(np.array)
        def doubled(values: Any) -> Any:
            return np.array(values), lambda dy: (list(2.0 * dy),)

        _, dy = jvp(lambda x: np.array([x[0], x[1]]), (X,), (DX,))
        np.testing.assert_array_equal(dy, 2.0 * DX[:2])
    _, dy = jvp(lambda x: np.array([x[0], x[1]]), (X,), (DX,))
    np.testing.assert_array_equal(dy, DX[:2])
