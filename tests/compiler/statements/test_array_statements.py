"""Statements on arrays as one entry, against the general way and against differences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, value_and_grad
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime import pulls
from tests.support.gradients import differences
from tests.support.pairs import rotating

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
W = np.array([1.1, 0.6, -0.7, 0.4, 1.5])
M = np.array([[2.1, 0.3, -0.4], [0.5, 1.9, 0.2], [-0.6, 0.7, 2.4]])


# Stores and augmented assignments that read what they write.


def neighbours(x, w):
    x[1:-1] = x[2:] * x[:-2] + w[1:-1]
    x[1:] += x[:-1] * 0.5 + x[1:]
    return np.sum(x * w)


def unscaled_neighbours(x, w):
    x[1:-1] += x[2:] + x[:-2]
    x[:3] = x[1:4] + w[:3]
    x[2:] -= x[:3]
    x[1:] = x[:-1] - w[1:]
    return np.sum(x * x * w)


def reversed_and_strided(x, w):
    x[:] = x[::-1] * w + x
    x[::2] -= 0.3 * x[::-2] * w[::2]
    return np.sum(x * x)


def alias(x, w):
    y = x
    x[1:] += y[:-1] + y[1:] * w[1:]
    y[:-1] -= x[1:] - x[:-1]
    return np.sum(x * y)


def negated(x, w):
    x[1:] = -x[:-1]
    x[1:] -= -w[1:] * x[1:]
    x[:] = -(w - x) - x * -w
    w[1:] -= x[1:] - (x[:-1] - w[1:])
    w *= -x
    return np.sum(x * w)


def one_memory_twice(x, w):
    y = 1.0 * x
    z = x * w
    y = y - y[::-1] - z
    y = 0.5 * (y[::-1] + z + y) - z * x
    x[1:] = x[1:] - 0.3 * (x[:-1] + w[1:])
    x[:] = x + x[::-1] + w - z
    x[1:4] = w[:3] - x[1:4] - x[:3]
    return np.sum(x * y)


def quotients(x, w):
    x[1:] /= w[1:] * x[:-1]
    x[:] = w / (x + 4.0) / w - x
    w[:-1] = (x[1:] - w[1:] * x[:-1]) / w[:-1]
    w /= x
    return np.sum(x * w)


def elements_beside_slices(x, w):
    x[1:] /= x[0]
    x[0:3] *= x[1]
    x[:] = x * w[2] - x[3] + w
    x[1:4] += x[0] * w[0]
    return np.sum(x * x)


def names_of_views(x, w):
    v = x[1:4]
    u = v[::-1]
    v[:] = v * w[1:4] + x[:3]
    u *= w[:3] - x[2:]
    v -= u * 2.0
    u[1:] += v[:-1]
    return np.sum(x * x) + np.sum(u * v)


def names_in_place(x, w):
    y = x[1:] * w[:-1]
    z = y
    y += x[:-1] * w[1:]
    y *= x[1:] - w[1:]
    total = 0.0
    for k in range(3):
        total += x[k : k + 3] * w[k]
    return np.sum(z * y) + np.sum(total * total)


def constants_that_become_active(x, w):
    y = np.zeros(5)
    y[1:3] = x[1:3] * 2.0 + x[:2]
    z = np.ones(5)
    z[2:] *= x[2:] + w[2:]
    z[:2] -= x[0] * 2
    return np.sum(y * z)


def constants_that_are_rewritten(x, w):
    p = np.ones(5)
    y = x.copy()
    for _ in range(4):
        p[1:] = 0.4 / (2.0 - p[:-1] * 0.5)
        y[1:] = p[1:] * y[:-1] + x[1:]
        p[0] += 0.25
        p[2:] *= 0.5
    return np.sum(y * w)


def numbers(x, w):
    s, t = x[0], w[1]
    x[1:] = s * t
    x[2:] += t - 2 * s
    y = s * x[1:] + t
    x[:] = s * x - t / s
    w[1:3] = s * 2.0 - 1.0
    return np.sum(x) + np.sum(y * y) + np.sum(w * w)


def functions(x, w):
    x[1:] = np.sin(x[:-1]) * w[1:] + np.exp(-w[:-1])
    w[2:] += np.sqrt(x[2:] * x[2:] + 1.0)
    w[:2] *= np.cos(x[0] * w[1]) * math.pi
    return np.sum(x * w)


def slices_in_names(x, w):
    part, others = slice(1, 4), (slice(None, 3),)
    x[part] = x[part] * w[part] + w[others]
    x[others] -= x[part] * w[others]
    return np.sum(x * x)


def index_arrays(x, w):
    where = np.array([3, 0, 3])
    chosen = w > 0.5
    x[where] = x[where] * w[:3] + 1.0
    x[chosen] += w[chosen] * x[chosen]
    y = x[where] - w[where] * x[:3]
    return np.sum(x * x) + np.sum(y)


def nothing_in_it(x, w):
    x[5:] = x[5:] * 2.0 + w[5:]
    x[2:2] -= x[3:3] * w[0]
    return np.sum(x * w)


def caught(x, w):
    for n in (5, 2, 5):
        try:
            x[: n - 1] = x[1:] * w[: n - 1] + 1.0
        except ValueError:
            x[0] += 1.0
    return np.sum(x * x)


# Broadcasting.


def elimination(m, w):
    for k in range(2):
        m[k + 1 :, k] /= m[k, k]
        m[k + 1 :, k + 1 :] -= m[k + 1 :, k, None] * m[k, k + 1 :]
    return np.sum(np.log(np.abs(np.diagonal(m)))) + np.sum(m[2] * w[:3])


def rows_and_columns(m, w):
    m[1:] = m[0] * w[:3] + w[1]
    m[:, 1:] += m[:, :1] - w[:2] * 2.0
    y = m * w[:3] + m[:, 1, None] * m[None, 0]
    z = w[:3, None] * w[2:] - m[0]
    m[...] = w[:3] / m[1]
    m *= y[:, :1] + z
    return np.sum(m * m)


def rows_one_after_the_other(m, w):
    y = np.ones((6, 3)) * w[1]
    for k in range(1, 5):
        y[k] = y[k - 1] * m[k % 3] + y[k]
        y[-1] *= y[k]
    y[4:2:-1] = y[1:3] * y[3:5]
    y[:2] -= y[2:4] * m[:2]
    y[5:] = y[:1] * y[5:]
    y[2] = y[1] * y[2]
    return np.sum(y * y)


def fortran_order(m, w):
    t = m.T
    t[1:, :2] += m[:2, 1:] * t[:2, 1:] - w[:2]
    t[:, 0] = m[0] * t[0] - m[:, 2]
    return np.sum(t * m)


def blocks(m, w):
    u = np.zeros((4, 5))
    u[1:, 2:] = m * m - w[:3, None]
    u[0] += w * 2.0 - u[1]
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return np.sum(u * u)


def three_axes(m, w):
    u = m[:, None, :] * w[:2, None] + m[None, :2, :] * 2.0 - w[1]
    u[0, :, 1:] -= m[0, 1:] * u[1, :, :-1]
    u[..., 0] *= u[..., 1]
    return np.sum(u * u * 0.5)


# Numbers.


def sums(x, w):
    s = np.sum(x[1:] * w[:-1]) - 0.5
    for k in range(4):
        s += np.sum(x * x) * w[k]
        x[k] = np.sqrt(np.sum(x[k:] ** 2) + 1.0) - w[k]
        w[k] += np.sum(x[:k] + w[k])
        s -= np.sum(x[k] * w[1:]) / np.sum(w * w)
    x[1:] *= np.sum(w * w) - w[1:]
    w -= x / np.sum(x)
    return s + np.sum(x - w) * np.sum(2.0 - x[::2])


def sums_of_two_shapes(x, w):
    s = np.sum(x[1:] * w[1:]) * np.sum(x) - np.sum(w[:, None] * x + w) + x[0]
    x[1] *= np.sum(np.outer(x, w[:2]) * w[1]) - x @ w
    w[0] = np.sum(x @ x) * 0.1
    return s * 0.01 + np.sum(-x) + np.sum(np.sin(w) * 2.0)


def made_active_by_a_number(x, w):
    norms = np.ones(3)
    squares = np.zeros((2, 2))
    for k in range(3):
        norms[k] = np.sqrt(np.sum(x[k : k + 2] ** 2))
        squares[k // 2, k % 2] += w[k:] @ x[k:] * 2.0
        x[k:] /= norms[k]
    return np.sum(norms * w[:3]) + np.sum(squares * squares)


# Products of vectors and matrices.


def orthogonal_columns(m, w):
    norms = np.empty(3)
    for k in range(3):
        norms[k] = np.sqrt(np.sum(m[:, k] ** 2))
        m[:, k] /= norms[k]
        m[:, k + 1 :] -= np.outer(m[:, k], m[:, k] @ m[:, k + 1 :])
    return np.sum(np.log(norms)) + np.sum(m[0] * w[:3])


def square_root(m, w):
    a = m @ m.T + 3.0 * np.eye(3)
    for k in range(3):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k + 1 :, k])
    return np.sum(a * w[:3])


def iteration(m, w):
    x = w[:3] * 1.0
    for _ in range(3):
        x -= 0.1 * (m @ x - w[1:4])
        x[1:] += 0.2 * (m[1:, :2] @ x[:2])
        x = x + x @ m * 0.1
    return np.sum(x * x)


def inner_products(m, w):
    s = w[:3] @ m[0] - m[1] @ m[2]
    m[1] *= m[0] @ w[:3]
    m[:, 0] = np.dot(m[:, 1], m[:, 2]) * w[2:] - m[1] * (w[1:4] @ w[2:])
    w[1] = m[0] @ m[:, 1]
    return s * np.sum(m * m) + np.sum(w)


def chains_of_products(m, w):
    y = m[:2].T @ (m[:2] @ m[:, 1:]) - np.dot(m, m[:, :2])
    z = w[:3] @ m @ m[:, :2] + w[3:] * 2.0
    m[1:, 1:] = y[1:] @ m[:2, :2] + 0.5 * m[1:, :2]
    m[:, 2] -= np.matmul(m, w[:3]) * w[2:]
    return np.sum(y * z) + np.sum(m * m)


def products_of_stacks(m, w):
    u = m[None] * w[:2, None, None]
    y = u[1:] @ m[:, :2] * 2.0 + w[:2]
    z = np.dot(w[1], m[0]) * w[2] + m[1]
    v = np.outer(m[:2], w[:2]) @ w[2:4] * w[1]
    return np.sum(y * y) + np.sum(z * z) + np.sum(v * v)


PROGRAMS = {
    **dict.fromkeys(
        (
            neighbours, unscaled_neighbours, reversed_and_strided, alias, negated,
            one_memory_twice, quotients,
            elements_beside_slices, names_of_views, names_in_place, constants_that_become_active,
            constants_that_are_rewritten, numbers, functions, slices_in_names, index_arrays,
            nothing_in_it, caught, sums, sums_of_two_shapes, made_active_by_a_number,
        ),
        (X, W),
    ),
    **dict.fromkeys(
        (
            elimination, rows_and_columns, rows_one_after_the_other, fortran_order, blocks,
            three_axes, orthogonal_columns, square_root, iteration, inner_products,
            chains_of_products, products_of_stacks,
        ),
        (M, W),
    ),
}  # fmt: skip


def gradient(f: Callable[..., Any], args: Any, argnums: Any, fuses: bool = True) -> Any:
    args = [a.copy(order="K") for a in args]
    before = [a.copy() for a in args]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReverseContext, "fuses", fuses)
        value, found = value_and_grad(f, argnums)(*args)
    for a, b in zip(args, before, strict=True):
        assert_array_equal(a, b)
    return value, found


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "argnums"), rotating(PROGRAMS, [(0,), (1,), (0, 1)]))
def test_equals_general_and_differences(f, argnums):
    args = PROGRAMS[f]
    value, fused = gradient(f, args, argnums)
    again = gradient(f, args, argnums)[1]
    reference, general = gradient(f, args, argnums, fuses=False)
    assert value == reference
    for k, a, b, c in zip(argnums, fused, general, again, strict=True):
        assert_allclose(a, b, rtol=1e-13, atol=1e-13)
        assert_allclose(c, a, rtol=0, atol=0)
        assert_allclose(a.ravel(), differences(f, args, k), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_in_a_checkpoint(f):
    args = PROGRAMS[f]
    expected = gradient(f, args, (0, 1))
    found = gradient(lambda a, b: checkpoint(f, a, b), args, (0, 1))
    assert found[0] == expected[0]
    for a, b in zip(found[1], expected[1], strict=True):
        assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "x[1:-1] = 0.25 * (x[2:] + x[:-2]) - w[1:-1]",
        "x[1:] += w[:-1] * x[:-1]",
        "x /= w[0] + w * 2.0",
        "x[1:] = w[:-1]",
        "y = x[1:] * w[:1] - x[0]",
        "x[2:] = x[0] * 2.0 - w[1]",
        "x[1:] *= x[1:] @ w[1:]",
        "y = np.sum(x * w) - 1.0",
        "x[1] = np.sqrt(np.sum(x[1:] ** 2) * w[0])",
        "w[2] += x[1:] @ w[1:] * 0.5",
        "x[:2] -= np.outer(x[:2], w[2:]) @ w[:2]",
        "y = np.minimum(x * w, x[0])",
        "x[1:] = np.hypot(x[1:], w[:-1] * 2.0)",
        "np.minimum(x, x[1] + w, out=x)",
        "np.add(w[1:], x[:-1], out=x[1:])",
        "np.sin(w, out=x)",
        "np.exp(x[1:], out=x[1:])",
    ],
)
def test_one_entry_beside_what_undoes_a_write(text, define):
    ctx = ReverseContext()
    x, w = np.arange(1.0, 5.0), np.ones(4)
    for a in (x, w):
        ctx.registry.activate(a)
    ctx.call(define(f"import numpy as np\ndef f(x, w):\n    {text}\n"), x, w)
    undone = [entry for entry in ctx.tape if entry[0] is pulls.undo_assign]
    assert len(ctx.tape) - len(undone) == 1
    assert len(undone) == (not text.startswith("y"))
    assert ctx.tape[0][0].__name__ == "pull"  # runs after the old contents are back


def test_a_write_to_fresh_memory_saves_nothing():
    ctx = ReverseContext()
    x = np.arange(4.0)
    ctx.registry.activate(x)

    def f(x):
        y = x * 2.0
        y[1:] = x[:-1] * 3.0 + x[1:]
        y[:2] += x[:2] * 0.5
        return y

    ctx.call(f, x)
    assert [entry[0].__name__ for entry in ctx.tape] == ["pull_two", "pull", "pull"]


def test_zero_cotangents_stay_zero_where_a_factor_is_not_finite():
    def f(x, w):
        y = x[1:] / w[:-1] * w[1:]
        x[1:] *= 1.0 / w[:-1] + 1.0
        m = w[:, None] * x - w[:, None] / x
        return np.sum(y[1:]) + np.sum(x[2:]) + np.sum(m[1:, 2:])

    x, w = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0, 4.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, fused = gradient(f, (x, w), (0, 1))
        _, general = gradient(f, (x, w), (0, 1), fuses=False)
    for a, b in zip(fused, general, strict=True):
        assert np.isfinite(a).all()
        assert_allclose(a, b, rtol=1e-14)


def test_zero_cotangents_in_products_of_matrices():
    def f(m, w):
        m[1] = m[0] / w - 1.0
        y = m @ m[:, 1:] * 0.5
        m[:, 2:] += np.outer(m[:, 1], w[:2]) @ m[:2, 2:]
        return np.sum(y[0]) + np.sum(m[0]) + (m[1] @ w - 0.5 * m[0, 0]) * 0.0

    m, w = np.arange(9.0).reshape(3, 3), np.array([1.0, 0.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, fused = gradient(f, (m, w), (0, 1))
        _, general = gradient(f, (m, w), (0, 1), fuses=False)
    for a, b in zip(fused, general, strict=True):
        assert_allclose(a, b, rtol=1e-14)


def test_errors_are_those_of_the_plain_call():
    def shapes(x, w):
        x[1:] = x[:-1] * w

    def target(x, w):
        x[1:] = x * w

    def wider(x, w):
        x[1:] += x[:, None] * w

    def outside(x, w):
        x[1:, 0] = x[:-1] * w[1:]

    def missing(x, w):
        x[1:] = x[:-1] * w[7] + 1

    def read_only(x, w):
        w.flags.writeable = False
        w[1:] = x[1:] * w[:-1]

    for f in (shapes, target, wider, outside, missing, read_only):
        with pytest.raises(Exception) as plain:
            f(X.copy(), W.copy())
        x, w = X.copy(), W.copy()
        with pytest.raises(plain.type) as ours:
            value_and_grad(f, (0, 1))(x, w)
        assert str(ours.value) == str(plain.value)
        assert_array_equal(x, X)
        w.flags.writeable = True
