"""Arrays of objects hold active numbers as lists do: elements keep their derivatives."""

from __future__ import annotations

import copy
import operator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    MissingRuleError,
    checkpoint,
    debug_mode,
    from_vjp,
    grad,
    hessian,
    jacobian,
    jvp,
    value_and_grad,
)  # fmt: skip
from tests.support.gradients import Program, Programs
from tests.support.pairs import rotating

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
captured = np.array([1.0, 2.0, 3.0], dtype=object)


@programs(X)
def elements(x):
    a = np.array([x[0], x[1], 2.0], dtype=object)
    first, *rest = a
    return a[0] * a[1] + a[::-1][0] * first + sum(rest) ** 2 + a[[0, 1]][1] * a[a == 2.0][0]


@programs(X)
def single_numbers(x):
    a = np.array(x[0], dtype=object)
    kept = a.item().dtype.itemsize * a[()] / np.float64(2.0)
    return kept + np.array(x.sum(), dtype=object) * 2


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


def rows(x: Any, dtype: Any = object) -> Any:
    """Return an array of two arrays of different lengths."""
    a = np.empty(2, dtype)
    a[0] = x * 1
    a[1] = 2 * x[:2]
    return a


def alike(x: Any) -> Any:
    a = np.empty(2, dtype=object)
    a[:] = [x, 2 * x]
    return a


@programs(X)
def joined_arrays(x):
    a, b = rows(x), alike(x)
    split = np.array(np.array_split(x, 2), dtype=object)
    total = np.concatenate(a).sum() * np.hstack(a)[3] + np.vstack(b)[1, 2] + np.stack(b).prod()
    total += np.column_stack(b)[2, 1] * np.dstack(b)[0, 1, 1] + np.concatenate(a[:1])[2]
    total += np.linalg.norm(np.stack(b * 2)) * np.concatenate(a[::-1])[0]
    return total + np.concatenate(split)[2] ** 2 + np.concatenate(np.delete(a, 0))[1]


@programs(X)
def sums_of_arrays(x):
    a = alike(x)
    square = a[[0, 1, 1, 0]].reshape(2, 2)
    added: Any = [sum(a), sum(a, x), np.var(a)]
    total = a.sum()[0] * np.sum(a)[1] + np.add.reduce(a)[2] + added[0][1] * added[1][0]
    total += np.prod(a)[0] * np.mean(a)[2] + (a**2).sum()[1] + np.average(a, weights=[1.0, 3.0])[0]
    total += np.dot(a, [1, 2])[0] + np.dot(a, a)[1] + np.inner(x[:2], a)[2] + (a @ a)[0]
    total += np.trace(square)[1] + np.cumsum(a)[1][2] * np.diff(a)[0][0] + added[2][1]
    total += np.sum([a, a], axis=0)[0][1] + np.mean([a, a], axis=0)[1][0] * np.cumprod(a)[1][2]
    return total + np.multiply.outer(a, a)[0, 1][2] + np.add.reduce(a, initial=x[0])[1]


@programs(X)
def products_of_matrices(x):
    a = np.empty(2, dtype=object)
    a[0], a[1] = np.outer(x, x + 1), np.outer(x * x, x)
    return np.linalg.multi_dot(a).sum()


@programs(X)
def outputs(x):
    a, b = alike(x), np.empty(2, dtype=object)
    total = np.add(a, 1, out=b)[1][0] * b[0][2] + np.reciprocal(a + 3, a)[0][1] * a[1][2]
    b[:] = [x, x * x]
    np.add(b, 1, out=b)
    np.abs(b, b)
    np.multiply(b, x[0], out=b, where=[True, False])
    np.add.at(b, [0, 0], 2.0)
    np.put(b, [1], [x[1]])
    np.copyto(a, b, where=[True, False])
    b.fill(x)
    return total + a[0][1] + b.sum()[2] + a[1][0]


@programs(X)
def numbers_beside_arrays(x):
    a: Any = x.astype(object)
    total = np.atleast_1d(a, x)[1] @ x + np.broadcast_arrays(a, x)[1][0]
    total += np.hstack(a)[0] * np.column_stack(a)[0, 1] + np.dstack(a)[0, 0, 2] + np.poly(a)[1]
    np.put(a, [0], [3.0])
    return total + a.sum() * sum(a) + np.fromiter(iter(rows(x)), object)[1][0]


@programs(X)
def made_in_other_ways(x):
    a = np.vectorize(lambda i: x * i, otypes=[object])(np.arange(1, 3))
    b: Any = np.full(2, None)
    b[0], b[1] = x, x * x
    c = copy.deepcopy(a)
    added: Any = sum(c)
    return np.concatenate(a)[4] + np.hstack(b)[4] * added[0] + np.concatenate(c)[5]


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


def held_by_an_object(x: Any) -> Any:
    a = np.array([Holder(x), Holder(1.0)], dtype=object)
    return np.sum(a).v


def arrays_of_holders(x: Any) -> Any:
    return np.sum(np.array([Holder(x), Inner(x)], dtype=object))[0]


def other_types(x: Any) -> Any:
    return np.meshgrid(x.astype(object), x)[1].sum()


def unconverted(x: Any) -> Any:
    return by_rule(rows(x))


def by_rule(a: Any) -> Any:
    """Return the sum of all elements of all arrays."""
    return sum(part.sum() for part in a)


@from_vjp(by_rule)
def by_rule_rule(a: Any) -> Any:
    return by_rule(a), lambda dy: (None,)


class Holder:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __add__(self, other: Any) -> Any:
        return Holder(self.v + other.v)


class Inner(Holder):
    def __radd__(self, other: Any) -> Any:
        return other.v + self.v


@pytest.mark.parametrize(
    "f", [held_by_an_object, arrays_of_holders, other_types, unconverted], ids=lambda f: f.__name__
)
def test_what_would_be_lost_is_refused(f: Any) -> None:
    with pytest.raises(MissingRuleError):
        grad(f)(X)


HALVES = np.array([Fraction(1, 2), Fraction(1, 3)])
MATRIX = np.array([[Fraction(1, 2), 2], [3, Fraction(1, 3)]])

PRODUCTS: list[Any] = [
    lambda x: x[0] * (MATRIX @ MATRIX)[0, 1],
    lambda x: x[1] * (HALVES @ MATRIX)[0],
    lambda x: x[:2] @ HALVES,
    lambda x: (x[:2] @ MATRIX).sum() * x[0],
    lambda x: (MATRIX @ (x[:2, None] * x[None, 1:]))[0, 1],
    lambda x: np.dot(np.array([x[0], x[1]], dtype=object), HALVES),
]


@pytest.mark.parametrize("f", PRODUCTS)
def test_products_of_objects_that_are_no_floats(f: Any) -> None:
    x = np.array([2.0, 3.0, 5.0])
    value, g = value_and_grad(f)(x)
    steps = 1e-6 * np.eye(3)
    assert float(value) == float(f(x))
    expected = [(float(f(x + d)) - float(f(x - d))) / 2e-6 for d in steps]
    np.testing.assert_allclose(g, expected, rtol=1e-7, atol=1e-7)
    _, slope = jvp(f, (x,), (np.ones(3),))
    np.testing.assert_allclose(float(slope), np.sum(g))


def types_of(a):
    return [type(v) for v in np.ravel(a).tolist()]


def assert_types_of_the_plain_call(f):
    x = np.array([1.5, -2.5], np.float32)
    expected = types_of(f(x))

    def is_same(x):
        return x[0] * (types_of(f(x)) == expected)

    assert value_and_grad(is_same)(x)[0] == jvp(is_same, (x,), (x,))[0] == 1.5


@pytest.mark.parametrize("index", [slice(None), ..., [0, 1], np.array([True, True]), (0, ...)])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_a_number_of_numpy_is_stored_as_it_is(index: Any, kind: Any) -> None:
    def f(x):
        a = np.array([0, 0], object)
        a[index] = kind(x[0])
        return a

    assert_types_of_the_plain_call(f)


@pytest.mark.parametrize(
    ("operation", "operand"),
    rotating(
        [
            lambda a, v: a * v,
            lambda a, v: v + a,
            np.subtract,
            operator.iadd,
        ],
        [
            np.float64(2.0),
            np.float32(2.0),
            np.int64(2),
            np.True_,
            2.0,
            [np.float64(2.0)] * 2,
            np.array(2.0),
            np.array([2.0, 1.0]),
            lambda x: x[0],
            lambda x: np.float64(x[1]),
            lambda x: x,
            lambda x: [x[0], x[1]],
            lambda x: (x[0], 2),
        ],
        times=2,
    ),
)
def test_numbers_of_numpy_are_those_of_python_as_operands(operand: Any, operation: Any) -> None:
    """A float32 next to a float64 would become one."""

    def f(x):
        v = operand(x) if callable(operand) else operand
        return operation(np.array([x[0], 2], object), v)

    assert_types_of_the_plain_call(f)
