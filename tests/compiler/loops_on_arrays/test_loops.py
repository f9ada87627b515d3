"""Loops with statements on slices as one entry, against statement by statement."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import checkpointed, grad
from mooncake_py.compiler.native import printed_loop as printed
from tests.compiler.comparing import agrees, agrees_along, equals_reference

RANDOM = np.random.default_rng(3)
X, Y = RANDOM.uniform(0.4, 0.9, (2, 6))
M = RANDOM.uniform(-1.0, 1.0, (6, 6)) + 2.0 * np.eye(6)


def triangular(x, m):
    for i in range(6):
        for j in range(6):
            m[i, j] += np.dot(m[i + 1 :, i], m[i + 1 :, j])
        m[i, :] *= 1.5
    return np.sum(m * m) + x[0]


def solved(x, m):
    for i in range(len(x)):
        x[i] = (x[i] - m[i, :i] @ x[:i]) / m[i, i]
    return np.sum(x * x)


def predicted(x, m):
    a = np.zeros(5)
    error = x[0]
    total = np.log(error)
    for k in range(5):
        reflection = -(x[k + 1] + np.dot(np.flip(x[1 : k + 1]), a[:k])) / error
        a[:k] += reflection * np.flip(a[:k])
        a[k] = reflection
        error *= 1.0 + reflection * reflection
        total += np.log(error)
    return total + m[0, 0] * a[3]


def factored(x, m):
    for k in range(5):
        m[k + 1 :, k] /= m[k, k] + 3.0
        m[k + 1 :, k + 1 :] -= m[k + 1 :, k, None] * m[k, k + 1 :]
    return np.sum(np.sin(m)) + x[1]


def orthogonal(x, m):
    for k in range(6):
        x[k] = np.sqrt(np.sum(m[:, k] ** 2))
        m[:, k] /= x[k]
        m[:, k + 1 :] -= np.outer(m[:, k], m[:, k] @ m[:, k + 1 :])
    return np.sum(x * m[0])


def correlated(x, m):
    c = np.zeros((6, 6))
    for i in range(5):
        c[i, i:] = m[:, i] @ m[:, i:]
        c[i:, i] = c[i, i:]
        c[i, :] /= 6.0 - x[i]
    return np.sum(c * c)


def branched(x, m):
    s = 0.0
    for i in range(1, 6):
        if x[i] > 0.65:
            s += np.sum(x[:i] * m[i, :i])
            continue
        s = np.tanh(m[:, i] @ x[:]) * s
        x[i:] *= np.sin(x[i:])
    return s + np.sum(x)


def by_data(x, m):
    order = np.array([2, 0, 4, 1, 5, 3])
    for i in range(1, 6):
        j = order[i]
        x[j] -= 0.1 * (m[order[i - 1], :j] @ x[:j])
        m[j, :] = 0.5 * m[order[i], ::-1]
    return np.sum(x) + np.sum(m * m)


def views(x, m):
    y, t = x[::-1], m.T
    for i in range(1, 5):
        y[i:] += 0.3 * x[: 6 - i]
        t[i, 1:] = m[i, :-1] * x[2]
        x[:i] = t[:i, i]
    return np.sum(x * x) + np.sum(m * m)


def by_windows(x, m):
    out = np.empty((4, 6))
    for i in range(4):
        for j in range(4):
            window = m[i : i + 2, j : j + 3]
            out[i, j] = np.sum(window * window) * x[i]
        out[i, 4:] = np.max(m[i:, 4:], axis=0) * x[:2]
    return np.sum(out)


def by_rows(x, m):
    columns, starts = np.array([0, 3, 3, 1, 5, 2, 4, 2]), np.array([0, 3, 4, 4, 8])
    y = np.zeros(4)
    for i in range(4):
        here = columns[starts[i] : starts[i + 1]]
        m[i, : starts[i + 1] - starts[i]] += 0.1 * x[here]
        y[i] += np.sum(x[here] * x[here]) * m[0, i]
    return np.sum(y * y)


def with_whole_arrays(x, m):
    kernel, rate = x[:3] * 1.0, x[5]
    y = np.zeros(6)
    for i in range(4):
        y[i] += np.dot(kernel, x[i : i + 3]) * rate
        m[i, :] += 0.2 * y * x - x
        y[3:] *= kernel
    return np.sum(y * y) + np.sum(m * m)


LOOPS = [
    triangular, solved, predicted, factored, orthogonal, correlated, branched, by_data, views,
    by_windows, by_rows, with_whole_arrays,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize("f", LOOPS)
def test_one_entry(f, taken):
    agrees(f, X.copy(), M.copy())
    assert taken[0] == (f is not views)  # which share memory that is written


@pytest.mark.sampled(4)
@pytest.mark.parametrize("f", LOOPS)
def test_in_steps_that_run_again(f):
    def steps(x, m):
        s = 0.0
        for _ in checkpointed(range(3), 1):
            s = f(x, m)
            m *= 0.25
            x *= 0.5
        return s

    equals_reference(steps, X.copy() + 1.0, M.copy())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("f", LOOPS)
def test_forward_and_second_order(f):
    agrees_along(f, (X.copy(), M.copy()), (Y.copy(), M.T.copy()))


@pytest.mark.plain
def test_names_keep_their_types(taken):
    def f(x):
        s, t = 0.0, 2.0
        for i in range(1, 5):
            if i > 2:
                s = np.sum(x[:i])
            t *= 1.5
        return x[0] * (type(s) is np.float64) + x[1] * (type(t) is float) + s

    agrees(f, X.copy())
    assert taken == [True, True, False]  # the last one is the reference


def test_a_constant_is_bound_to_a_name_that_was_active():
    def f(x):
        data = np.arange(6.0)
        s = x[0]
        for i in range(4):
            x[i] *= s
            s = np.sum(data[i:])
        return np.sum(x) + s

    agrees(f, X.copy())


def test_a_constant_is_written_where_there_was_an_active_slice():
    def f(x):
        data = np.arange(6.0)
        for i in range(3):
            x[i : i + 2] = data[i : i + 2] * 2.0
        return np.sum(x * x)

    agrees(f, X.copy())


@pytest.mark.plain
def test_few_passes_and_none(taken):
    def f(x, n):
        for i in range(n):
            x[i:] *= 2.0
        return np.sum(x)

    for n in (0, 1, 2):
        assert grad(lambda x, n=n: f(x, n))(X.copy())[0] == 2.0 ** min(n, 1)
    assert taken == [False, True, True]  # a loop without passes binds nothing


def test_what_follows_finds_what_the_loop_has_written():
    def f(x, m):
        for i in range(1, 6):
            x[i] = np.dot(m[i, :i], x[:i])
        m *= x
        x[2:] = 1.0
        for i in range(1, 6):
            m[i, :] *= m[i - 1, :] + x[i]
        return np.sum(m)

    agrees(f, X.copy(), M.copy())


def test_a_slice_with_a_name_sees_later_writes():
    def f(x):
        s = 0.0
        for i in range(1, 5):
            part = x[i:]
            x[i] *= 1.5
            s += np.sum(part * part)
            part2 = x[:i]
            x[i:] += 0.1 * np.sum(part2)
        return s

    agrees(f, X.copy())


def test_a_slice_whose_name_is_read_after_the_loop():
    def f(x):
        s = 0.0
        for i in range(1, 5):
            part = x[i:]
            s += np.sum(part * part)
            x[i] *= 0.5
        return s + part[0]

    agrees(f, X.copy())


def test_a_slice_whose_name_is_read_in_the_next_pass():
    def f(x):
        s = 0.0
        for i in range(1, 5):
            if i > 1:
                s += np.sum(part * x[i])  # noqa: F821
            part = x[i:]  # noqa: F841
            x[i] *= 0.5
        return s

    agrees(f, X.copy())


def test_a_slice_whose_name_is_read_out_of_all_local_names():
    def f(x):
        s = 0.0
        for i in range(1, 5):
            part = x[i:]
            s += np.sum(part * part)
            x[i] *= 0.5
        return s * np.sum(locals()["part"])

    agrees(f, X.copy())


def test_an_index_within_a_slice_that_changes_after_it_has_a_name():
    def f(x):
        k, s = 0, 0.0
        for i in range(1, 5):
            part = x[k:]
            k = i % 3
            s += np.sum(part * part) * x[i]
        return s

    agrees(f, X.copy())


@pytest.mark.plain
def test_what_is_short_is_not_tried(monkeypatch, taken):
    monkeypatch.setattr(printed, "FEWEST", 24)

    def f(x, n):
        for _ in range(n):
            for i in range(3):
                x[i:] *= 1.01
        return np.sum(x)

    grad(lambda x: f(x, 2))(X.copy())
    assert not any(taken)
    grad(lambda x: f(x, 20))(X.copy())
    assert taken[-1]
    taken.clear()

    def g(x, n):
        for _ in range(n):
            x[1:] *= 1.01
        return np.sum(x)

    for n, expected in ((20, False), (24, True)):
        grad(lambda x, n=n: g(x, n))(X.copy())
        assert taken[-1] is expected


def test_while_is_not_tried(taken):
    def f(x):
        shift = 1
        while shift < len(x):
            x[shift:] += x[:-shift]
            shift *= 2
        return np.sum(x * x)

    agrees(f, X.copy())
    assert not any(taken)
