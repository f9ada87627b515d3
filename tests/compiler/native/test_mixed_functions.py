"""Functions of which only loops are compiled: objects, prints and lists stand between them."""

from __future__ import annotations

import io

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.compiler.native import effort
from mooncake_py.compiler.native.pulling import overlapping
from tests.compiler.native.test_loop_sites import X, agree

pytestmark = pytest.mark.plain


@pytest.fixture(autouse=True)
def short_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "LEAST", 1)


class State:
    def __init__(self, u):
        self.u = u
        self.t = 0.0
        self.k = 0
        self.other = None


def attributes_are_assigned(x, n):
    state, out = State(x * 1.0), io.StringIO()
    old = state.u
    for _ in range(n):
        for i in range(1, len(x)):
            state.u[i] += 0.1 * state.u[i - 1] + state.t
            state.t += 0.01 * state.u[i]
            state.k += 1
        print(state.t, state.k, file=out)
        for i in range(2):
            state.u = state.u * 1.1
            state.last = state.u[i]
    return np.sum(state.u) * state.t + state.k * state.last + np.sum(old)


def objects_share_an_array(x, n):
    s, r, out = State(x), State(x), io.StringIO()
    print(n, file=out)
    for i in range(n):
        s.u[i] = s.u[i] * 2.0
        r.t += r.u[i]
    print(n, file=out)
    for i in range(n):
        r.t += r.u[i]
        s.t = r.t * 0.5
    return s.t * r.t + np.sum(x)


def names_change(x, n):
    best, total, out = None, 0, io.StringIO()
    print(n, file=out)
    for i in range(n):
        if i == 0 or x[i] > best:
            best = x[i]
        total = total + i
    a = x
    for e in a:
        a = a * 0.9
        total += e
    for i, p in enumerate(a):
        total += p * x[i] * i
    print(total, file=out)
    return best * total + a[0] + p


def whiles_within_a_list(x, n):
    a, b, history = x[0], x[1], []
    while len(history) < n:
        history.append(a)
        j = 0
        while j < 4:
            a, b = b + 0.1 * x[j], a * 0.5
            j += 1
        x[j % 4] = a
    return a * b + sum(history) + j


CASES = [attributes_are_assigned, objects_share_an_array, names_change, whiles_within_a_list]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("f", CASES)
@pytest.mark.parametrize("n", [1, 3])
def test_all_modes(f, n, tried):
    agree(f, X, n)
    assert True in tried


def loops_read_overlapping_arrays(x, n):
    a, b, total, out = x[1:], x[:-1], 0.0, io.StringIO()
    print(n, file=out)
    for i in range(n):
        total += np.sum(a * b * b) / (i + 1)
    print(n, file=out)
    for i in range(n):
        total += a[i] * b[i] * b[i]
    print(n, file=out)
    return total


def test_cotangents_of_overlapping_arrays_get_all_that_is_added(tried):
    agree(loops_read_overlapping_arrays, np.linspace(0.5, -1.0, 200), 3)
    assert any(tried)


def test_overlapping_cotangents_are_found():
    memory, x = object(), np.zeros(8)
    views = [x[:4], x[3:], x[4:5], x[0:1]]
    assert overlapping([memory] * 4, views) == {0, 1, 2, 3}
    assert overlapping([memory] * 2, [x[:4], x[4:]]) == set()
    assert overlapping([memory, object()], views[:2]) == set()


def test_positional_only_parameters_are_not_passed_by_name():
    pytest.importorskip("llvmlite")

    def f(y, /):
        return y * y

    def by_name(x):
        return f(y=x) + 1.0

    def outer(x):
        s = 0.0
        for _ in range(3):
            s = s + f(y=x)
        return s

    for g in (by_name, outer):
        for _ in range(2):
            with pytest.raises(TypeError, match="positional-only") as expected:
                g(0.5)
            with pytest.raises(TypeError) as found:
                grad(g, compile=True)(0.5)
            assert str(found.value) == str(expected.value)
