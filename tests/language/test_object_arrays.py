"""Arrays of objects hold active numbers as lists do: elements keep their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, checkpoint, debug_mode, grad, hessian, jacobian
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
captured = np.array([1.0, 2.0, 3.0], dtype=object)


@programs(X)
def elements(x):
    a = np.array([x[0], x[1], 2.0], dtype=object)
    first, *rest = a
    return a[0] * a[1] + a[::-1][0] * first + sum(rest) ** 2 + a[[0, 1]][1] * a[a == 2.0][0]


@programs(X)
def arithmetic(x):
    a = np.array([x[0], x[1]], dtype=object)
    b = a * 2 - 1 / a + a**2 * np.array([1.0, 3.0]) + (-a) * x[2]
    c = b * x[:2] + x[:2] * a + np.multiply(a, b) - np.negative(a) / x[0]
    return c[0] * c[1] + abs(b)[0]


@programs(X)
def constants_beside_active_data(x):
    a = np.array([1.0, 2.0, 3.0], dtype=object)
    y = a * x + x / a
    return (y * a)[1] + (a * x[0])[2] * y[0]


@programs(X)
def reductions(x):
    a = np.array([[x[0], x[1]], [x[2], 2.0]], dtype=object)
    total = a.sum() + np.sum(a * a, axis=0)[1] * a.prod() + np.mean(a) + a.sum(axis=1)[0]
    return total + np.cumsum(a)[2] * np.add.reduce(a[0]) + a.max() * np.trace(a)


@programs(X)
def products(x):
    a = np.array([x[0], x[1]], dtype=object)
    m = np.empty((2, 2), dtype=object)
    for i in range(2):
        for j in range(2):
            m[i, j] = x[i] * x[j + 1]
    b = m @ a + a.dot(m) + np.dot(m, x[:2]) + np.outer(a, a)[0]
    return b.sum() + a @ np.array([1.0, 2.0]) + (m @ m).trace()


@programs(X)
def writes(x):
    a = np.empty(3, dtype=object)
    a[:] = x * 2
    b = a * a
    a[0] = x[1]
    a[1:] = [x[0], 5.0]
    a += 1
    a[2] *= x[0]
    a[:2] -= np.array([x[2], 1.0], dtype=object)
    return b.sum() + (a * b).sum()


@programs(X)
def moved(x):
    a = np.array([x[0], x[1], x[2], 1.0], dtype=object).reshape(2, 2)
    b = np.concatenate([a.T, np.vstack([a, a])]).ravel()
    c = np.where(np.array([True, False] * 6), b, b[::-1])
    return np.sum(c * b) + np.stack([a[0], a[1]])[1, 0] * a.tolist()[0][1]


@programs(X)
def arrays_as_elements(x):
    a = np.empty(2, dtype=object)
    a[0] = x * 2
    a[1] = x[:2]
    b = a * 3
    return b[0].sum() * a[1].sum() + (a + b)[1][0]


@programs(X)
def there_and_back(x):
    a = x.astype(object)
    a[0] = a[0] * a[1]
    y = np.zeros(3)
    y[:] = a
    z = np.array(a, dtype=float) * a.astype(float) + np.asarray(a, float)
    return np.sum(y * z * x) + np.array(x[0], dtype=object)[()] ** 2


@programs(X)
def through_a_view(x):
    a = np.zeros((2, 2), dtype=object)
    row = a[1]
    row[0] = x[0]
    y = a * a
    row[:] = x[1] * x[2]
    return y.sum() + (a**3).sum()


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def overwrites(x: Any) -> Any:
    y = captured * x
    captured[1] = x[0]
    captured[2:] = x[1] * 2
    return (y * captured).sum()


def test_what_was_overwritten_is_put_back() -> None:
    expected = [1.0 + 2 * X[1], 2 * X[0] + 6 * X[2], 6 * X[1]]
    expected[0] = 2 * X[1] + 1.0
    gradient = grad(overwrites)(X)
    np.testing.assert_allclose(gradient, expected)
    assert captured.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(grad(lambda x: checkpoint(overwrites, x))(X), gradient)
    with debug_mode():
        np.testing.assert_allclose(grad(overwrites)(X), gradient)
    assert captured.tolist() == [1.0, 2.0, 3.0]


def test_a_checkpoint_that_writes_through_views() -> None:
    def part(x: Any) -> Any:
        a = np.zeros(4, dtype=object)
        for i in range(3):
            a[i : i + 2][1:] = x[i] ** 2
        return (a * a).sum()

    np.testing.assert_allclose(grad(lambda x: checkpoint(part, x))(X), 4 * X**3)


def cubes(x: Any) -> Any:
    a = np.array(list(x), dtype=object)
    return (a**3).sum() + a[0] * a[1]


def test_second_derivatives() -> None:
    expected = np.diag(6 * X)
    expected[0, 1] = expected[1, 0] = 1.0
    np.testing.assert_allclose(hessian(cubes)(X), expected)
    np.testing.assert_allclose(jacobian(lambda x: grad(cubes)(x))(X), expected)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sin(np.array([x[0]], dtype=object))[0],
        lambda x: np.array([x[0], None], dtype=object).sum(),
        lambda x: np.interp(0.5, np.array([0.0]), np.array([x[0]], dtype=object)),
    ],
)
def test_errors_are_those_of_numpy(f: Any) -> None:
    with pytest.raises(TypeError) as plain:
        f([0.5])
    with pytest.raises(TypeError) as caught:
        grad(f)(np.array([0.5]))
    assert type(caught.value) is type(plain.value)


def in_place_functions(x: Any) -> Any:
    a = np.array([x[0], x[1]], dtype=object)
    np.put(a, [0], [3.0])
    return a.sum()


def held_by_an_object(x: Any) -> Any:
    a = np.array([Holder(x), Holder(1.0)], dtype=object)
    return np.sum(a).v


class Holder:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __add__(self, other: Any) -> Any:
        return Holder(self.v + other.v)


@pytest.mark.parametrize("f", [in_place_functions, held_by_an_object], ids=lambda f: f.__name__)
def test_what_would_be_lost_is_refused(f: Any) -> None:
    with pytest.raises(MissingRuleError):
        grad(f)(X)
