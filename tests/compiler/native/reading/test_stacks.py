"""Lists of arrays, and of tuples, that loops make."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading.reader import read_function
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

X = np.array([0.7, -1.2, 0.4, 2.0])


def trajectory(x, a):
    u = x * 1.0
    states = [u]
    for k in range(25):
        u = u + 0.1 * np.sin(u * a + k)
        states.append(u)
    path = np.array(states)
    return np.sum(path[::2] * path[1::2].sum()) + states[-1][0] * len(states)


def copies_of_what_is_written(x, a):
    out = []
    for i in range(len(x)):
        x[i] *= a
        if x[i] > 0.0:
            out.append(x.copy())
    total = 0.0
    for k, row in enumerate(out):
        total += row[k] * row[-1]
    return total + np.sum(np.stack(out)[0])


def pairs(x, a):
    log = []
    t, u = 0.0, x * a
    while t < 1.0:
        u = u * 0.9 + x
        log.append((t, u, "step"))
        t += 0.125
    total = 0.0
    for (r, p, name), (s, q, _) in zip(log, log, strict=True):
        total += r * p[0] - s * q[1] if name == "step" else 0.0
    return total + log[2][1] @ x + log[-1][0]


def matrices(x, a):
    turns = [np.outer(x, x) * b + a for b in np.linspace(0.0, 1.0, 9)]
    alpha = x / np.sum(np.abs(x))
    for t in range(len(turns)):
        alpha = alpha @ turns[t] * 0.1
    return np.sum(alpha) + turns[0][1, 2] + np.sum(sum(turns))


def of_functions(x, a):
    rows = [step(x, a * k) for k in range(len(x))]
    hits = [(distance(row, a), row[0]) for row in rows]
    return sum(d * b for d, b in hits) + np.sum(np.vstack(rows)[1:])


def step(x, a):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = math.tanh(x[i] * a)
    return y


def distance(x, a):
    return np.sqrt(np.sum((x - a) ** 2) + 1.0)


def lists_within(x, a):
    """A state that is a list of numbers, newly made in each pass."""
    t, y = 0.0, [x[0], x[1] * a, x[3]]
    path, hits = [(t, y)], []
    while t < 2.0 * abs(x[3]):
        new = [y[0] + 0.1 * y[1], y[1] - 0.1 * y[0] * y[2], y[2] * 0.98]
        if new[0] * y[0] < 0.0:
            hits.append((t, new))
        t, y = t + 0.1, new
        path.append((t, y))
    u, (p, q, _) = path[-1]
    late = path[len(path) // 2 :]
    best = max(y[1] for _, y in late)
    turns = sum(t * 0.5**k + y[0] for k, (t, y) in enumerate(hits)) if hits else 0.0
    return u * p + q + best * late[0][1][2] + turns + len(late[1:-1])


def from_the_end(x, a):
    """As smoothers do: lists that get longer at their beginning."""
    n = len(x) * 5
    states = [x * (0.9**k) for k in range(n)]
    means, gains, ends = [states[-1] * a], [], [x[0]]
    for t in range(n - 2, -1, -1):
        gain = np.tanh(states[t] * a)
        means.insert(0, states[t] + gain * (means[0] - states[t + 1]))
        gains.insert(0, (t, gain))
        ends.insert(0, ends[0] * 0.9 + means[0][1])
    total = sum(m @ g for m, (_, g) in zip(means[1:], gains, strict=True))
    total += sum(k * m[1] for k, m in enumerate(means)) + gains[2][0] * gains[-1][1][0]
    whole = np.array(means)
    inner = means[2:-1][1:]
    return total + whole[3] @ inner[0] + np.sum(whole[-1] * inner[-1]) + sum(ends[:3])


FUNCTIONS = [
    trajectory, copies_of_what_is_written, pairs, matrices, of_functions, lists_within,
    from_the_end,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_agree_with_the_plain_way(f, tried) -> None:
    rng = np.random.default_rng(5)
    for n in range(3):
        x = X + (0.3 * rng.standard_normal(4) if n else 0.0)
        value, g = value_and_grad(f, (0, 1))(x.copy(), 0.6)
        found, h = value_and_grad(f, (0, 1), compile=True)(x.copy(), 0.6)
        assert_allclose(found, f(x.copy(), 0.6), rtol=1e-13)
        assert_allclose(found, value, rtol=1e-13)
        assert_allclose(h[0], g[0], rtol=1e-11, atol=1e-12)
        assert_allclose(h[1], g[1], rtol=1e-11, atol=1e-12)
        if not n:
            require_compiled(f, tried)
    ways = [jvp(f, (X.copy(), 0.6), (np.cos(X), 0.3), compile=way) for way in (False, True)]
    assert_allclose(ways[1], ways[0], rtol=1e-11)
    of_x = lambda x: f(x, 0.6)  # noqa: E731
    second = [hvp(of_x, (X.copy(),), np.cos(X), compile=way) for way in (False, True)]
    assert_allclose(second[1], second[0], rtol=1e-10, atol=1e-12)


def written_before(x, a):
    out = []
    for i in range(len(x)):
        x[i] *= a
        out.append(x)
    return np.sum(np.array(out))


def written_after(x, a):
    out = []
    u = x * a
    for _ in range(3):
        out.append(u)
        u = u * 2.0
    u[0] = 5.0
    out[0][1] = 7.0
    return np.sum(np.array(out)) + np.sum(u)


def by_another_name(x, a):
    out = []
    u = x * a
    for _ in range(3):
        out.append(u)
        w = u
        u = u * 2.0
        w[0] = 5.0
    return np.sum(np.array(out))


def of_growing_length(x, a):
    out = []
    for i in range(1, len(x)):
        out.append(x[:i] * a)
    return np.sum(out[-1])


def one_list(x, a):
    y, path = [x[0], a], []
    for _ in range(99):
        path.append((a, y))
        y[0] = y[0] + 0.1
    return path[0][1][0] * path[-1][1][1]


def an_item_is_written(x, a):
    y, path = [x[0], a], []
    for _ in range(99):
        path.append(y)
        y = [y[0] + 0.1, y[1] * 0.9]
    path[3][0] = 7.0
    return path[3][0] * y[1] + path[2][0]


def a_later_name(x, a):
    y, path = [x[0], a], []
    for _ in range(99):
        path.append(y)
        y = [y[0] + 0.1, y[1] * 0.9]
    z = path[-1]
    z.append(x[2])
    return len(path[-1]) * z[2] * y[0]


def at_both_ends(x, a):
    out = []
    for k in range(99):
        out.append(x * k)
        out.insert(0, x * a)
    return np.sum(out[0] * out[-1])


def a_list_of_its_own(x, a):
    out = []
    for k in range(99):
        out.append(x * k)
    more = out[90:]
    for _ in range(99):
        more.append(x * a)
    return np.sum(more[-1]) * len(out)


@pytest.mark.parametrize(
    "f",
    [
        written_before,
        written_after,
        by_another_name,
        of_growing_length,
        one_list,
        an_item_is_written,
        a_later_name,
        at_both_ends,
        a_list_of_its_own,
    ],
    ids=lambda f: f.__name__,
)
def test_what_is_written_as_well_runs_the_plain_way(f) -> None:
    with pytest.raises(Unfit):
        read_function(f, [type_of(X), type_of(0.6)])
    value, g = value_and_grad(f, (0, 1))(X.copy(), 0.6)
    found, h = value_and_grad(f, (0, 1), compile=True)(X.copy(), 0.6)
    assert found == f(X.copy(), 0.6) == value
    assert_allclose(h[0], g[0], rtol=1e-12)
    assert_allclose(h[1], g[1], rtol=1e-12)


def beyond(x, n):
    path = []
    for k in range(70):
        path.append([x[0] * k, n])
    return sum(u for u, _ in path[n:]) + x[1]


def test_slices_that_reach_beyond_are_those_of_python() -> None:
    for n in (3, -5, 70, 90, -90, 0):
        value, g = value_and_grad(beyond)(X, n)
        found, h = value_and_grad(beyond, compile=True)(X, n)
        assert_allclose(found, value, rtol=1e-14)
        assert_allclose(h, g)


def test_lists_that_loops_make_are_no_results() -> None:
    def inner(x, n):
        found = []
        for k in range(n):
            found.append((x * k, x[0]))
        return found, x

    with pytest.raises(Unfit, match="that a loop makes as a result"):
        read_function(inner, [type_of(np.array([0.5, 2.0])), type_of(70)])
