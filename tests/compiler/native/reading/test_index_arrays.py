"""Elements that arrays of ints pick, read and written, and ``...`` in an index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

rng = np.random.default_rng(7)
X, A, T = (rng.standard_normal(shape) for shape in (5, (4, 5), (2, 5, 3)))
P, Q = np.array([3, -1, 0, 3, -5]), np.array([1, 0, -2, -3, 1])
I2 = np.array([[0, 1, -1], [2, 1, 3]])
NONE = np.zeros(0, int)


def several_arrays(x, A, T, p, q, i):
    y = A[q, p]
    A[1:3] *= 2.0
    return y @ x + np.sum(A[p[:1], q[1:]] ** 2) + np.sum(T[0, p, q[:5]] ** 3)


def products_of_indices(x, A, T, p, q, i):
    rows = q[:3]
    y = A[rows[:, None], p]
    return np.sum(y * y[::-1] * x) + np.sum(A[i] ** 2) + np.sum(A[i, i - 1] ** 3)


def beside_slices(x, A, T, p, q, i):
    y = T[0, :, q[1:3]]
    z = T[:, p, 1]
    w = T[:, p[:2], q[:2]] * T[q[1:3] % 2, :, q[:2]][:, :2]
    v = T[:, p[:3], None, q[:3]] * x[:3, None, None]
    return (
        np.sum(v**2)
        + np.sum(y[0] ** 2)
        + np.sum(z @ x)
        + np.sum(w**2)
        + np.sum(T[:, p, None] * x[0])
    )


def at_lists(x, A, T, p, q, i):
    at = (1, 2)
    rows = [0, -1]
    return x[[0, 2, -1]] @ x[:3] + A[at] * A[rows][1, 0] + np.sum(A[:, [k * 2 for k in range(3)]])


def ellipses(x, A, T, p, q, i):
    T[..., 0] = T[..., 1] * 2
    T[0, ..., 1:] -= x[:, None]
    A[...] = A[..., ::-1] ** 2
    x[1, ...] = 3.0
    return np.sum(T[..., 2, :] ** 2) + np.sum(A[...] * x) + np.sum(T[..., None][1] ** 3)


def assigned(x, A, T, p, q, i):
    x[p] = np.sin(x) * 2.0
    A[q] = x
    A[q, p] = A[p % 4, q] ** 2
    A[1:3, p] = x[:2, None]
    T[0, :, [0, 2]] = x
    x[q] = 0.5
    return np.sum(T**2) + np.sum(A**2) + x @ x


def added(x, A, T, p, q, i):
    x[p] += x[::-1] ** 2
    x[p] *= x[p[::-1]]
    A[q] -= A[q][:, ::-1]
    A[q, p] += x
    A[i] /= 2.0 + np.abs(A[i])
    return np.sum(A**2) + x @ x


def of_itself(x, A, T, p, q, i):
    k = np.arange(5)
    k[p] = k[q] + 1
    m = x > 0
    m[q] = False
    x[k % 5] = x[p] * 2.0
    return x[k % 5] @ x + m.sum() * x[0]


def added_at(x, A, T, p, q, i):
    np.add.at(x, p, x[3])
    y = x
    np.add.at(y[1:], q, y[1])
    for k in range(3):
        np.add.at(x, q, x[k])
        x[k:] += x[k]
        x[: k + 1] *= x[k]
    x[p] += x[3]
    x[x > 0] *= x[x.argmax()]
    x.fill(x[1] * A[0, 0] + x[2])
    A[1:] -= A[2, 0]
    return np.sum(x**2) + np.sum(A**2)


def of_nothing(x, A, T, p, q, i):
    x[p] = 2.0
    x[p] += x[p] ** 2
    A[p] = x
    A[:, p] *= A[:, p]
    return np.sum(x[p]) + x @ x + np.sum(A[p, p]) + np.sum(A)


def in_loops(x, A, T, p, q, i):
    for k in range(3):
        x[p] = x[q] * x[k]
        A[i[1, k], q[:k]] += x[p[:k]]
    while x @ x > 0.5:
        x[p] *= 0.5
        x[q] *= 0.75
    return np.sum(A**2) + x.sum()


def complex_ones(x, A, T, p, q, i):
    z = x + 1j * A[0]
    z[p] = z[q] * (1.0 + 0.5j)
    z[q] += 1j * z[p]
    z[p] = 0.5j
    return np.sum(np.abs(z[p]) ** 2) + np.sum(z[q].real)


WITH_INTS = [
    several_arrays, products_of_indices, beside_slices, at_lists, ellipses, assigned, added,
    added_at, of_itself, in_loops, complex_ones,
]  # fmt: skip
CASES = [(f, (X, A, T, P, Q, I2)) for f in WITH_INTS] + [(of_nothing, (X, A, T, NONE, Q, I2))]


def derivatives(f: Any, args: tuple[Any, ...], **how: Any) -> list[Any]:
    at, ints = tuple(a.copy() for a in args[:3]), args[3:]

    def g(x, A, T):
        return f(x, A, T, *ints)

    along = tuple(np.cos(a) for a in at)
    value, partials = value_and_grad(f, (0, 1, 2), **how)(*at, *ints)
    tangent = jvp(g, at, along, **how)[1]
    second = hvp(g, at, along, argnums=(0, 1, 2), **how)
    for a, b in zip(at, args, strict=False):
        assert_array_equal(a, b)
    return [value, *partials, tangent, *second]


def of_float32(f: Any, args: tuple[Any, ...]) -> Any:
    narrow = [a.astype(np.float32) for a in args[:3]]
    return [value_and_grad(f, (0, 1, 2), compile=way)(*narrow, *args[3:]) for way in (True, False)]


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("f", "args"), CASES)
def test_derivatives_are_those_without(f: Any, args: Any, tried: list[bool]) -> None:
    pairs = zip(derivatives(f, args, compile=True), derivatives(f, args), strict=True)
    for a, b in pairs:
        assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    require_compiled(f, tried)


@pytest.mark.parametrize("f", [several_arrays, assigned, added, ellipses])
def test_float32(f: Any, tried: list[bool]) -> None:
    (value, g), (expected, h) = of_float32(f, (X, A, T, P, Q, I2))
    assert type(value) is type(expected)
    assert_allclose(value, expected, rtol=1e-5)
    for a, b in zip(g, h, strict=True):
        assert a.dtype == b.dtype
        assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    assert tried == [True]


def out_of_bounds(x, A, T, p, q, i):
    A[q, p] = 1.0
    x[p + 5] *= 2.0
    return x.sum() + A.sum()


def of_other_lengths(x, A, T, p, q, i):
    x[p] = 1.0
    return np.sum(A[p, q[:2]]) + x.sum()


def of_other_values(x, A, T, p, q, i):
    x[p[:2]] = x[:3] * 2
    return x.sum()


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (out_of_bounds, IndexError, "out of bounds"),
        (of_other_lengths, IndexError, "broadcast"),
        (of_other_values, ValueError, "shape mismatch"),
    ],
)
def test_exceptions_are_those_of_the_plain_call(
    f: Any, error: Any, message: str, tried: list[bool]
) -> None:
    at = (X.copy(), A.copy(), T.copy())
    with pytest.raises(error, match=message):
        value_and_grad(f, compile=True)(*at, P, Q, I2)
    for a, b in zip(at, (X, A, T), strict=True):
        assert_array_equal(a, b)
    assert tried == [False]


def onto_itself(x, p, q):
    x[p] = x[::-1]
    return x @ np.arange(1.0, 6.0)


def at_itself(x, p, q):
    p[p[:2]] = 0
    return x[p] @ x


def added_at_itself(x, p, q):
    np.add.at(p, p[:2] + 0, 1)
    np.add.at(p, p[:2], 1)
    return x[p] @ x


def several_axes(x, p, q):
    x[np.stack((p, q))] = np.stack((x, x * 2))
    return x @ x


def backwards(x, p, q):
    A = np.outer(x, x)
    r, s = p[::-1], q[::-1]
    A[r, s] = (x * 2)[::-1]
    return A.sum()


def without_axes(x, p, q):
    return x[np.array(1)] * x @ x


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (onto_itself, "onto itself"),
        (at_itself, "holds the index"),
        (added_at_itself, "holds the index"),
        (several_axes, "several axes"),
        (backwards, "several axes"),
        (without_axes, "without axes"),
    ],
)
def test_what_is_not_compiled(f: Any, why: str, tried: list[bool]) -> None:
    value, g = value_and_grad(f, compile=True)(X.copy(), np.zeros(5, int), Q.copy())
    expected, h = value_and_grad(f)(X.copy(), np.zeros(5, int), Q.copy())
    assert value == expected
    assert_array_equal(g, h)
    assert why in str(report(f)[0])


def test_ints_that_run_backwards_are_not_passed(tried: list[bool]) -> None:
    def f(x, p, q):
        B = np.zeros((5, 5))
        B[p, q] = x
        return np.sum(B**2)

    x, p, q = (a[::-1] for a in (X, np.zeros(5, int), np.zeros(5, int)))
    assert (
        value_and_grad(f, compile=True)(x, p, q)[0] == value_and_grad(f)(x, p, q)[0] == f(x, p, q)
    )
    assert tried == []
