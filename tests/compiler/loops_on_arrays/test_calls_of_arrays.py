"""Loops that call functions on whole arrays, as one entry."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad
from tests.compiler.comparing import agrees, agrees_along, equals_reference

RANDOM = np.random.default_rng(8)
X, Y = RANDOM.uniform(0.2, 0.6, (2, 6))
M = 0.3 * RANDOM.uniform(-1.0, 1.0, (6, 6))


def periodic(x, m):
    u = x
    for _ in range(5):
        u = u + 0.1 * (np.roll(u, 1) + np.roll(u, -1) - 2 * u) / 0.5**2
        m = 0.5 * np.roll(m, 1, axis=1) + m * 0.4
    return np.sum(u * u) + np.sum(m * m * u)


def laplacian(q, h):
    return (np.roll(q, 1) + np.roll(q, -1) - 2.0 * q) / h**2


def in_a_function(x, m):
    u = x
    for k in range(5):
        u = u + 0.1 * laplacian(u, 0.7) * m[k]
    return np.sum(u * u)


def limited(x, m):
    u = x
    for k in range(5):
        u = np.clip(u + 0.4 * m[k], 0.1, 0.55) + 0.1 * np.clip(u, m[k, 0], u[k]) + 0.1 * x
    return np.sum(u * u)


def smaller(x, m):
    u = x
    for k in range(5):
        u = 0.5 * np.minimum(u, m[k] + 0.3) + 0.3 * np.maximum(u * u, 0.1) + 0.1 * x
    return np.sum(u * u)


def joined(x, m):
    u = x
    for k in range(5):
        u = np.concatenate(([m[k, 0]], u[1:-1] + 0.1 * u[2:], [0.5]))
        g = np.hstack([u[-1], u, u[0]])
        u = u + 0.1 * (g[2:] - g[:-2])
    return np.sum(u * u)


def stacked(x, m):
    u = x
    for k in range(5):
        w = np.stack([u, m[k]])
        v = np.vstack((u, x))
        u = 0.5 * w.sum(axis=0) + 0.1 * v[1]
    return np.sum(u * u)


def smoothed(x, m):
    kernel = 0.5 * x[:3]
    u = x
    for k in range(5):
        u = np.convolve(u, kernel, mode="same") + m[k]
    kernel *= 3.0
    return np.sum(u * u) + np.sum(kernel)


def sloped(x, m):
    u = x
    for k in range(5):
        u = u - 0.1 * u * np.gradient(u, 0.5) + 0.2 * np.cumsum(m[k])
        u[1:-1] += 0.1 * np.diff(np.diff(u))
    return np.sum(u * u)


def contracted(x, m):
    u, s = x, 0.0
    for _ in range(5):
        u = np.einsum("ij,j->i", m, u) + x
        s += np.einsum("i,ij,j->", u, m, x) + np.vdot(u, x) + np.trapezoid(u, dx=0.2)
    return s


def interpolated(x, m):
    grid, u = np.arange(6.0), x
    for k in range(5):
        u = np.interp(grid - 0.3 * m[k, 0], grid, u)
    return np.sum(u * u)


def normed(x, m):
    u = x
    for _ in range(5):
        v = m @ u + x
        u = v / np.linalg.norm(v)
    return np.sum(u * x)


def solved(x, m):
    u = x
    for _ in range(5):
        u = np.linalg.solve(np.eye(6) + m, u) + 0.1 * np.linalg.inv(np.eye(6) + m) @ x
    return np.sum(u * u)


def rates(x, m):
    y = x[:3]
    for k in range(5):
        dy = np.array([x[5] * (y[1] - y[0]), y[0] * (2.0 - y[2]) - y[1], y[0] * y[1] - m[k, 0]])
        y = y + 0.1 * dy
    return np.sum(y * y)


def made(x, m):
    u = x
    for k in range(5):
        new = np.zeros_like(u)
        new[1:-1] = u[2:] - 0.5 * u[:-2]
        new[0] = u[0] * m[k, 1]
        ones = np.ones(6)
        ones[2:4] = u[:2]
        u = new + 0.2 * ones
    return np.sum(u * u)


def sorted_and_reduced(x, m):
    u, s = x, 0.0
    for k in range(5):
        v = np.sort(u)
        s += v[2] * np.max(u) + np.std(u)
        u = 0.9 * u + 0.1 * m[k] + 0.1 * np.repeat(v[:3], 2)
    return s


LINEAR = [periodic, in_a_function, limited, smaller, joined, stacked, smoothed, sloped, contracted,
          rates, made]  # fmt: skip
LOOPS = [*LINEAR, interpolated, normed, solved, sorted_and_reduced]
LEFT = [smoothed, contracted, interpolated, sorted_and_reduced]
"""With functions that are not read: they run statement by statement."""


@pytest.mark.sampled(2)
@pytest.mark.plain
@pytest.mark.parametrize("f", LOOPS)
def test_one_entry(f, taken):
    agrees(f, X.copy(), M.copy())
    assert taken[0] == (f not in LEFT)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", LOOPS)
def test_forward_and_second_order(f):
    agrees_along(f, (X.copy(), M.copy()), (Y.copy(), M.T.copy()))


# What is kept is what it was.


def test_operands_that_change_in_place_are_copied():
    def f(x, m):
        u = x * 1.0
        for k in range(5):
            v = np.convolve(u, x[:3], mode="same")
            u[1:] *= v[:-1] + m[k, 1:]
            x[2] = 0.5 * u[3]
        return np.sum(u * u) + np.sum(x)

    agrees(f, X.copy(), M.copy())


def test_results_that_a_rule_keeps_may_change():
    def f(x):
        s = 0.0
        for _ in range(5):
            v = np.cumprod(x + 0.5)
            v[1:] *= 0.5
            s += np.sum(v * v)
        return s

    agrees(f, X.copy())


def test_arrays_that_are_kept_may_change_after_the_loop():
    def f(x, y):
        kernel = y[:3]
        u = x
        for _ in range(5):
            u = np.convolve(u, kernel, mode="same")
        y[:] = 7.0
        return np.sum(u * u)

    agrees(f, X.copy(), Y.copy())


# Views of operands.


def test_views_within_the_loop():
    def f(x, m):
        s = 0.0
        for k in range(5):
            v = np.ravel(m)
            s += np.sum(v * v) * x[k]
            m = 0.9 * m
        return s

    agrees(f, X.copy(), M.copy())


def test_views_that_are_written_or_seen_later():
    def f(x, m):
        u = x * 1.0
        for _ in range(5):
            v = np.ravel(u)
            u[0] = 2.0 * u[1]
            u = u * v
        w = u
        for _ in range(4):
            w = np.ravel(w)
        w[0] = 3.0
        return np.sum(u * w) + (w is u)

    agrees(f, X.copy(), M.copy())


# What is none of a region.


def test_active_arguments_without_a_derivative_there():
    def f(x, m):
        u, s = x, 0.0
        for k in range(5):
            s += np.trapezoid(u, x=np.cumsum(x + 1.0)) * m[k, k]
            u = 0.9 * u
        return s

    agrees(f, X.copy(), M.copy())


def test_draws_are_no_operations():
    def f(x):
        np.random.seed(3)  # noqa: NPY002
        u = x
        for k in range(5):
            u = u * np.random.normal(size=6)  # noqa: NPY002
            if k == 3:
                u = np.stack([u, u])[0]
        return np.sum(u * u)

    equals_reference(f, X.copy())


def test_shapes_that_change():
    def f(x):
        u = x
        for _ in range(5):
            u = np.concatenate((u, u[:1]))
        return np.sum(u * u)

    agrees(f, X.copy())


def test_calls_in_one_side_of_a_condition():
    def f(x, k):
        s = 0.0
        for i in range(5):
            s += (np.linalg.norm(x) if i > k else 0.5) * x[i]
        return s

    assert np.isfinite(grad(f)(X.copy(), 2)).all()
    equals_reference(lambda x: f(x, 2), X.copy())


@pytest.mark.plain
def test_functions_of_one_name_are_told_apart(taken):
    """Shares of a minimum are worked out forward, choices of `np.where` backwards."""

    def f(x, m):
        u, v = x, x
        for k in range(5):
            u = np.where(u > 0.3, 0.5 * u, m[k])
            v = np.minimum(v, 0.4) * u + 0.1 * x
        return np.sum(u * v)

    agrees_along(f, (X.copy(), M.copy()), (Y.copy(), M.T.copy()))
    agrees(f, X.copy(), M.copy())
    assert taken[0]


@pytest.mark.plain
def test_ties_share(taken):
    def f(x):
        u = np.array([0.3, 0.3, 0.1, 0.5])
        for k in range(4):
            u = np.minimum(u, x[k]) + 0.0 * np.clip(x, 0.3, 1.0)
        return np.sum(u)

    equals_reference(f, np.array([0.3, 0.3, 0.2, 0.4]))
    assert taken[0]


def test_cotangents_that_are_not_finite():
    def f(x):
        u, s = x * 1.0, 0.0
        for _ in range(4):
            v = np.clip(u, 0.3, 1.0)
            s += np.sum(np.sqrt(v - 0.3))
            u = 0.9 * u
        return s

    with np.errstate(all="ignore"):
        found, expected = equals_reference(f, X.copy()), grad(f)(X.copy())
    np.testing.assert_array_equal(found[0], expected)


def test_names_that_are_none_of_the_function():
    def f(x):
        u = x
        for _ in range(5):
            u = np.clip(u, low=0.3, high=0.5)  # pyright: ignore[reportCallIssue]
        return np.sum(u)

    with pytest.raises(TypeError, match="low"):
        grad(f)(X.copy())


def test_slopes_along_several_axes():
    def f(m):
        s = 0.0
        for _ in range(5):
            parts = np.gradient(m, 1, 2)
            s += np.sum(parts[0] * parts[1])
            m = 0.9 * m
        return s

    agrees(f, M.copy())


def test_lists_among_the_arguments():
    def f(x, m):
        u, s = x, 0.0
        for k in range(5):
            u = np.convolve(u, [0.25, x[k], 0.25], mode="same") + m[k]
            v = np.cumsum([u[0], 0.5, m[k, 1]])
            w = np.clip([u[1], u[2], 0.3], 0.1, 0.4)
            s += np.sum(v * w)
        return s * np.sum(u * u)

    agrees(f, X.copy(), M.copy())
    agrees_along(f, (X.copy(), M.copy()), (Y.copy(), M.T.copy()))


@pytest.mark.parametrize("n", [0, 1])
def test_values_that_are_operands(n):
    def f(x):
        u = x * 1.0
        for _ in range(5):
            v = np.diff(u, n)
            v[0] = 0.5 * u[1]
            u = u * 0.9 + 0.1 * np.sum(v * v)
        return np.sum(u * u)

    agrees(f, X.copy())


@pytest.mark.plain
def test_a_view_that_outlasts_the_loop_by_another_name():
    def f(x):
        u = v = x * 1.0
        for k in range(5):
            w = np.ravel(u)
            v = w
            u = 1.1 * u if k < 3 else u
        v[0] = 3.0
        return np.sum(v) + np.sum(u * u)

    agrees(f, X.copy())


def by_spectrum(x, m):
    u = x
    for k in range(5):
        u = u - 0.1 * np.fft.ifft(np.fft.fft(u) * m[k]).real
    return np.sum(u * u)


def attribute_of_a_call(x, m):
    u = x
    for _ in range(5):
        v = np.cumsum(u).T
        u = 0.1 * v + m[0] / np.sort(u).size
    return np.sum(u * u)


@pytest.mark.parametrize("f", [by_spectrum, attribute_of_a_call])
def test_attributes_of_what_functions_return(f):
    agrees(f, X.copy(), M.copy())
