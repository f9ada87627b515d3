"""Regions that have run are entered again by one printed function, or in the general way."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, hvp, value_and_grad
from mooncake_py.compiler.native.entering_again import Quick
from mooncake_py.compiler.sites.elsewhere import Other

pytestmark = pytest.mark.plain


class Law:
    def __init__(self, k):
        self.k = k

    def step(self, x, y):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * y * self.k
        return total


SCALE = 2.0


def scaled(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y * SCALE
    return total, x


def written(x, y):
    for i in range(len(x)):
        x[i] = x[i] * y + 1.0


def program(x, y, laws, passes):
    kept = {}
    try:
        for k in range(passes):
            kept[str(k)] = k
            y = y * 0.1 + laws[k % len(laws)].step(x, y)
            total, same = scaled(x, y)
            y += total * 0.1 + same[0]
            written(x, 0.5)
            if k == 7:
                y += laws[0].step(x[::2], y) + laws[0].step(x, 0.5) + laws[0].step(np.ones(3), y)
                written(x[1::2], 0.5)
    finally:
        kept.clear()
    return y


X = np.array([0.3, 0.5, 0.9, 0.2])


@pytest.fixture
def again(monkeypatch):
    """Whether each printed function took a call."""
    found: list[bool] = []
    original = Quick.__call__

    def noted(self, ctx, given, f):
        y = original(self, ctx, given, f)
        found.append(y is not Other)
        return y

    monkeypatch.setattr(Quick, "__call__", noted)
    return found


def bits(found):
    if isinstance(found, list | tuple):
        return [bits(part) for part in found]
    return np.asarray(found).tobytes()


def derivatives(laws):
    return [
        value_and_grad(program, (0, 1), compile=True)(X.copy(), 0.7, laws, 12),
        hvp(program, (X.copy(), 0.7, laws, 12), (X, 0.3), (0, 1), compile=True),
    ]


@pytest.mark.usefixtures("tried")
def test_both_ways_give_the_same_bits(again, monkeypatch):
    laws = [Law(0.3), Law(0.2)]
    found = derivatives(laws)
    assert sum(again) > 15
    x = X.copy()
    expected = value_and_grad(program, (0, 1), compile=False)(x, 0.7, laws, 12)
    np.testing.assert_allclose(found[0][0], expected[0], rtol=1e-12)
    for g, h in zip(found[0][1], expected[1], strict=True):
        np.testing.assert_allclose(g, h, rtol=1e-11)
    np.testing.assert_array_equal(x, X)
    monkeypatch.setattr(Quick, "__call__", lambda *args: Other)
    assert bits(derivatives(laws)) == bits(found)


@pytest.mark.usefixtures("tried")
def test_what_has_changed_is_noticed(again, monkeypatch):
    laws = [Law(0.3)]
    gradient = grad(program, compile=True)
    plain = grad(program, compile=False)

    def check() -> int:
        del again[:]
        np.testing.assert_allclose(
            gradient(X.copy(), 0.7, laws, 12), plain(X.copy(), 0.7, laws, 12), rtol=1e-11
        )
        return sum(again)

    assert check() > 10
    monkeypatch.setattr(__import__(__name__, fromlist=["x"]), "SCALE", 3.0)
    check()
    laws[0].k = np.float64(0.5)
    check()
    laws[0].k = 2
    check()
    laws[:] = [type("Other", (Law,), {"step": lambda self, x, y: y * x.sum()})(1.0)]
    check()
    monkeypatch.setattr(Law, "step", lambda self, x, y: y * x.prod() * self.k)
    laws[:] = [Law(0.5)]
    check()


@pytest.mark.usefixtures("tried")
def test_arguments_that_share_memory_go_the_general_way(again):
    def one(x, y):
        for i in range(len(x) - 1):
            x[i] = x[i] * y[i + 1] + 1.0
        return x[0]

    def f(x):
        kept, total = {}, 0.0
        try:
            for k in range(8):
                kept[str(k)] = k
                total += one(x, x if k == 6 else x + 0.5)
                total += one(x[:3], x[1:] if k == 7 else x[1:] * 1.0)
        finally:
            kept.clear()
        return total + x.sum()

    found = value_and_grad(f, compile=True)(X.copy())
    expected = value_and_grad(f, compile=False)(X.copy())
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-11)
    assert sum(again) > 4


@pytest.mark.usefixtures("tried")
def test_what_is_not_finite_runs_as_it_is_written(again):
    def f(x, y):
        kept = {}
        try:
            for k in range(9):
                kept[str(k)] = k
                written(x, y if k == 6 else 0.5)
        finally:
            kept.clear()
        return np.sum(x)

    x = X.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        expected = value_and_grad(f, compile=False)(x, np.inf)
        found = value_and_grad(f, compile=True)(x, np.inf)
    assert any(again)
    assert bits(found) == bits(expected)
    assert bits(x) == bits(X)
