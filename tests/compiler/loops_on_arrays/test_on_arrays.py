"""Loops that bind names to arrays and work on rows, as one entry."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpointed, grad, hvp, jvp, value_and_grad
from tests.compiler.comparing import agrees, agrees_along, equals_reference

RANDOM = np.random.default_rng(5)
X, Y = RANDOM.uniform(0.2, 0.6, (2, 6))
M = 0.3 * RANDOM.uniform(-1.0, 1.0, (6, 6))


def recurrent(x, m):
    h = x
    for t in range(len(m)):
        h = np.tanh(m @ h + 0.5 * m[t] + x)
    return np.sum(h * h)


def waves(x, m):
    u, before = x, 0.9 * x
    for _ in range(5):
        new = 1.9 * u - 0.95 * before - 0.1 * (m @ u)
        before = u
        u = new
    return np.sum(u * u) + np.sum(before * x)


def swapped(x, m):
    u, before = x, x
    for k in range(5):
        before, u = u, 1.9 * u - before * m[k]
    return np.sum(u * u) + np.sum(before)


def trajectory(x, m):
    for k in range(5):
        m[k + 1] = m[k] + 0.1 * x * (1.0 - m[k])
        m[k + 1] -= 0.2 * m[k] ** 2
    return np.sum(m * m)


def with_temporaries(x, m):
    for k in range(5):
        row = m[k]
        left = m @ row
        right = row / (1.0 + k)
        m[k] += left * right + 0.5 * left
        x[k] += left @ right
    return np.sum(m * m) + np.sum(x * x)


def in_place(x, m):
    v = np.zeros(6)
    for k in range(5):
        v -= 0.1 * m @ x
        x += 0.2 * v
        x[0] = 0.5
        v *= 0.9 + m[k, k]
    return np.sum(x * x) + np.sum(v)


def growth(u, rate):
    free = 1.0 - u
    return rate * u * free


def steps_of_a_function(x, m):
    u = x
    for k in range(5):
        half = u + 0.05 * growth(u, m[k, 0])
        u = u + 0.1 * growth(half, m[k, 0])
    return np.sum(u * u)


def rows_of(x, m):
    w, s = x, 0.0
    for row in m:
        s += np.sum(row * w)
        w = 0.9 * w + 0.1 * row
    return s * s + np.sum(w**3)


def matrices(x, m):
    p = np.eye(6)
    for k in range(5):
        p = 0.9 * (m @ p) + 0.1 * np.outer(x, m[k])
        if k == 3:
            p = np.sin(p) * x
    return np.sum(p * p)


def some_in_branches(x, m):
    u = x * 1.0
    for k in range(6):
        if m[k, k] > 0.0:
            u = u * m[k]
            continue
        if k == 5:
            break
        u = np.exp(-u) + x
    return np.sum(u) * np.sum(x * u)


def whole_and_elements(x, m):
    u, y = x * 1.0, m[0] * 1.0
    for k in range(5):
        u = 0.5 * u * x[k] + y
        x[k + 1] = 0.1 * np.sum(u * x)
    return np.sum(u * x)


LOOPS = [
    recurrent, waves, swapped, trajectory, with_temporaries, in_place, steps_of_a_function, rows_of,
    matrices, some_in_branches, whole_and_elements,
]  # fmt: skip
LEFT = [waves, swapped, matrices, some_in_branches]
"""Names that share memory in some passes: they run statement by statement."""


@pytest.mark.sampled(2)
@pytest.mark.plain
@pytest.mark.parametrize("f", LOOPS)
def test_one_entry(f, taken):
    agrees(f, X.copy(), M.copy())
    assert taken[0] == (f not in LEFT)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("f", LOOPS)
def test_in_steps_that_run_again(f):
    def steps(x, m):
        s = 0.0
        for _ in checkpointed(range(3), 1):
            s = f(x, m)
            m *= 0.5
            x *= 0.5
        return s

    equals_reference(steps, X.copy() + 1.0, M.copy())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", LOOPS)
def test_forward_and_second_order(f):
    agrees_along(f, (X.copy(), M.copy()), (Y.copy(), M.T.copy()))


# What is seen from outside.


def test_one_array_with_two_names_afterwards():
    def f(x):
        u = v = x
        for _ in range(4):
            u = 0.5 * u + x
            v = u
        u[0] *= 3.0
        return np.sum(u * v) + (u is v)

    agrees(f, X.copy())


def test_a_name_is_bound_to_an_argument_afterwards():
    def f(x, y):
        u, v = x, y
        for _ in range(3):
            u, v = v, u
        return np.sum(u * x) + 2.0 * np.sum(v * x * x) + (u is y)

    agrees(f, X.copy(), Y.copy())


def test_what_is_changed_after_the_loop_is_put_back():
    def f(x):
        u = x
        for _ in range(4):
            u = np.sin(u) * u
        total = np.sum(u)
        u *= 2.0
        x[:] = 7.0
        return total + np.sum(u * u)

    agrees(f, X.copy())


def test_only_the_last_array_is_read():
    def f(x):
        u = x
        for k in range(4):
            u = u * (1.0 + k)
        return u[2] ** 2

    agrees(f, X.copy())


def test_loops_one_after_another():
    def f(x):
        u = x
        for _ in range(4):
            u = np.sin(u) + 0.1 * x
        for _ in range(4):
            u = u * u + x
        return np.sum(u)

    agrees(f, X.copy())


def test_a_loop_that_runs_again_finds_what_it_has_left(taken):
    def f(x):
        s = 0.0
        for _ in range(3):
            for _ in range(4):
                x = 0.9 * x + 0.1 * np.cos(x)
            s += np.sum(x)
        return s

    agrees(f, X.copy())


def test_the_sum_of_an_argument():
    def f(x, y):
        u, s = x, 0.0
        for k in range(4):
            s += (1.0 + k) * np.sum(u)
            u = np.sin(y)
        return s

    agrees(f, X.copy(), Y.copy())


# What is unusual.


def test_shapes_that_change():
    def f(x, m):
        u = x
        for k in range(4):
            if k == 2:
                u = np.outer(u, x)
            u = x * u
        return np.sum(u)

    agrees(f, X.copy(), M.copy())


def test_an_operand_of_one_element():
    def f(x, b):
        u = x * 1.0
        for _ in range(4):
            u = u * b + x
        return np.sum(u)

    agrees(f, X.copy(), np.array([0.7]))
    agrees(f, np.array([0.7]), X.copy())


def test_a_number_that_becomes_an_array():
    def f(x):
        total = 0.0
        for k in range(4):
            total = total + x * k
        return np.sum(total * x)

    agrees(f, X.copy())


def test_a_name_that_is_changed_in_place_and_bound_anew():
    def f(x):
        u = x
        for k in range(4):
            if k % 2:
                u += 1.0
            else:
                u = u * 0.5
        return np.sum(u * x)

    agrees(f, X.copy())


class Holder:
    def __init__(self, u):
        self.u = u


def test_an_attribute_that_is_changed_in_place():
    def f(x, y):
        one, other = Holder(x), Holder(x)
        for _ in range(4):
            one.u *= y
            other.u += 0.1 * one.u
        return np.sum(one.u) + np.sum(x * other.u) + (one.u is x)

    agrees(f, X.copy(), Y.copy())


def test_an_attribute_that_is_changed_in_place_and_bound_anew():
    def f(x, y):
        one = Holder(x)
        for _ in range(4):
            one.u *= y
            one.u = one.u + 0.1
        return np.sum(one.u) + np.sum(x)

    agrees(f, X.copy(), Y.copy())


def test_an_array_that_is_written_while_a_name_is_bound_to_it():
    def f(x):
        u = x
        for k in range(4):
            u = u * x[k]
            x[k] = np.sum(u)
        return np.sum(u) + np.sum(x)

    agrees(f, X.copy())


def test_a_row_with_a_name_that_sees_later_writes():
    def f(m):
        s = 0.0
        for k in range(5):
            row = m[k]
            m[k] *= 2.0
            s += np.sum(row * m[k + 1])
        return s

    agrees(f, M.copy())


def test_a_row_whose_name_is_read_after_the_loop():
    def f(m):
        s = 0.0
        for k in range(5):
            row = m[k]
            s += np.sum(row * row)
            m[k] *= 2.0
        row[0] = 3.0
        return s + np.sum(m)

    agrees(f, M.copy())


def test_a_row_that_is_changed_by_its_name():
    def f(m):
        for k in range(5):
            row = m[k]
            row *= 2.0
        return np.sum(m * m)

    agrees(f, M.copy())


def test_lists_in_the_place_of_arrays():
    def f(x):
        rows = [x, 2.0 * x, x * x]
        s = 0.0
        for k in range(3):
            row = rows[k]
            s += np.sum(row)
        return s

    agrees(f, X.copy())


def test_nothing_is_active():
    def f(x):
        u = np.arange(6.0)
        for _ in range(4):
            u = 0.5 * u + 1.0
        return np.sum(u * x)

    agrees(f, X.copy())


def test_what_is_not_finite():
    def f(x):
        u = x
        for _ in range(4):
            u = np.log(u) * u
        return u[0] * u[1]

    x = X.copy()
    x[2] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_allclose(grad(f)(x)[:2], grad(f)(X.copy())[:2])


def test_a_zero_cotangent_beside_an_infinite_partial():
    def f(x):
        u = x
        for _ in range(4):
            u = np.sqrt(u) + 0.1
        return u[0]

    x = X.copy()
    x[1] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g = grad(f)(x)
    assert g[1] == 0.0
    assert g[0] > 0.0


def test_an_error_comes_from_its_statement():
    def f(x):
        u = x
        for k in range(4):
            u = u * np.ones(6 - (k == 3))
        return np.sum(u)

    with pytest.raises(ValueError, match="broadcast") as caught:
        grad(f)(X.copy())
    assert any("u = u" in str(entry.statement) for entry in caught.traceback)


@pytest.mark.plain
def test_loops_within_are_tried_where_the_outer_one_has_no_form(taken):
    def f(x):
        rows = [x, 2.0 * x, x * x]
        s = 0.0
        for k in range(3):
            row = rows[k]
            s += np.sum(row)
            for i in range(1, 6):
                x[i:] *= 1.1
        return s + np.sum(x)

    value_and_grad(f)(X.copy())
    assert taken == [False, True, True, True]


def test_an_argument_with_another_name_in_the_loop_changes_afterwards():
    def f(x):
        w = x
        for _ in range(4):
            other = w
            u = 0.3 * other * other
        x[1:] += 0.1 * u[1:]
        return np.sum(np.sin(u)) + np.sum(x * w)

    agrees(f, X.copy())
    step = 1e-6 * Y
    up, down = (grad(f)(X + sign * step) for sign in (1, -1))
    assert_allclose(hvp(f, (X.copy(),), Y), (up - down) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("changed", ["x", "u"])
def test_what_an_array_and_its_sum_with_a_constant_hold_afterwards(changed):
    def f(x, y):
        u = y
        for _ in range(4):
            u = x + 1.0
            y = y * u
        (x if changed == "x" else u)[0] = 0.2
        return np.sum(y) + np.sum(x) + np.sum(u)

    agrees(f, X.copy(), Y.copy())
    gradients = grad(f, (0, 1))(X.copy(), Y.copy())
    _, t = jvp(f, (X.copy(), Y.copy()), (Y, X))
    assert np.isclose(t, np.sum(gradients[0] * Y) + np.sum(gradients[1] * X), rtol=1e-12)


def test_the_sum_of_a_number_that_is_written_down():
    def bound(x, y):
        for _ in range(4):
            x = x * np.sum(0.7) + y
        return np.sum(x * y)

    def on_slices(x, y):
        for _ in range(4):
            x[1:] = x[1:] * np.sum(0.7)
        return np.sum(x * y)

    agrees(bound, X.copy(), Y.copy())
    agrees(on_slices, X.copy(), Y.copy())


def test_an_argument_that_another_name_takes_over_changes_afterwards():
    def step(x, y, m):
        v, w, t = y, x, 1.0
        for i in range(4):
            t *= np.sum(v * m[i])
            v, w = w, 0.5 * y
        x[1:] += 0.1
        return t + np.sum(w)

    def steps(x, y, m):
        s = 0.0
        for _ in checkpointed(range(3), 1):
            s += step(x, y, m)
        return s

    agrees(steps, X.copy(), Y.copy(), M.copy() + 1.0)


def test_tangents_that_are_equal_are_memory_of_their_own():
    def f(x, y):
        u = x
        for _ in range(4):
            v = u + y
            u = v - 2.0 * y
        v[0] = 0.0
        v[1:] *= 3.0
        return np.sum(u * u) + np.sum(v * y)

    for run in (jvp, hvp):
        given = (Y.copy(),) if run is jvp else Y.copy()
        found = run(lambda x: f(x, Y), (X.copy(),), given)
        found = found[1] if run is jvp else found
        step = 1e-6 * Y
        if run is jvp:
            assert np.isclose(found, (f(X + step, Y) - f(X - step, Y)) / 2e-6, rtol=1e-6)
        else:
            up, down = (grad(f)(X + sign * step, Y) for sign in (1, -1))
            assert_allclose(found, (up - down) / 2e-6, rtol=1e-5, atol=1e-8)


def test_a_name_is_bound_to_elements_that_share_memory_before():
    def f(x):
        u = np.broadcast_to(x[1:2], (6,))
        for _ in range(4):
            u = 0.5 * u + x
        return np.sum(u * u)

    agrees(f, X.copy())


def test_what_names_of_arguments_are_written_after_the_loop_is_put_back():
    def f(x, y):
        u = x
        for k in range(5):
            u = y if k == 4 else np.sin(u)
        u[0] *= 3.0
        return np.sum(u * x)

    x, y = X.copy(), Y.copy()
    _, t = jvp(f, (x, y), (Y.copy(), X.copy()))
    assert np.array_equal(x, X)
    assert np.array_equal(y, Y)
    g, h = grad(f, (0, 1))(x, y)
    assert np.isclose(t, np.sum(g * Y) + np.sum(h * X))
    agrees(f, X.copy(), Y.copy())


def test_a_result_that_the_adjoint_reads_changes_after_the_loop():
    def f(x, m):
        for k in range(5):
            x = np.tanh(m[k] + 0.5)
        x[:2] *= 0.5
        return np.sum(x * x)

    agrees(f, X.copy(), M.copy())


def test_a_computed_factor_beside_a_name_of_the_user_like_its_own():
    def f(x, p0):
        u = x
        for _ in range(4):
            u = 0.1 * (0.5 * x) @ p0 + 0.5 * u * p0
        return np.sum(u * u)

    agrees(f, M.copy(), M.T.copy() + 0.5)
