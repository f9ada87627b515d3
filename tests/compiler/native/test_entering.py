"""Regions are entered by printed code, which does what the general way in does."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hvp, value_and_grad, vjp
from mooncake_py.compiler.native import region_site, site

pytestmark = pytest.mark.plain


def numbers(x, y):
    total = 0.0
    for _ in range(3):
        total += x * y + total
    return total


def sums(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y
    return total


def made(x, y):
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i] * y + i
    return z


def written(x, y):
    for i in range(len(x)):
        x[i] = x[i] * y + 1.0


def nothing_added(x, y, n):
    total = 0
    for i in range(n):
        total += x[i] * y
    return total


class Law:
    def __init__(self, k):
        self.k = k
        self.n = 0

    def step(self, x, y):
        self.n += 1
        total = 0.0
        for i in range(len(x)):
            total += x[i] * y * self.k
        return total


def program(x, y):
    law = Law(0.3)
    kept = {}
    try:
        for k in range(4):
            kept[str(k)] = k
            y = numbers(y, 0.3) + sums(x, y) + np.sum(made(x[::2], y)) * 0.1
            written(x, 0.5)
            written(x[1::2], y * 0.01)
            y = y * 0.1 + nothing_added(x, y, k) + law.step(x, y)
    finally:
        kept.clear()
    return y * law.n


X = np.array([0.3, 0.5, 0.9, 0.2])


def derivatives(f):
    tangent = np.array([1.0, -1.0, 0.5, 2.0])
    y, pullback = vjp(f, X.copy(), 0.7, compile=True)
    return [
        *value_and_grad(f, argnums=(0, 1), compile=True)(X.copy(), 0.7),
        y, pullback(1.0),
        hvp(f, (X.copy(), 0.7), (tangent, 0.3), argnums=(0, 1), compile=True),
        grad(lambda x: checkpoint(f, x, 0.7), compile=True)(X.copy()),
    ]  # fmt: skip


def bits(found):
    if isinstance(found, list | tuple):
        return [bits(part) for part in found]
    return np.asarray(found).tobytes()


def test_both_ways_in_give_the_same_bits(tried, monkeypatch):
    used = []
    original = region_site.entry

    def counted(*args):
        used.append(original(*args))
        return used[-1]

    monkeypatch.setattr(region_site, "entry", counted)
    found = derivatives(program)
    assert sum(enter is not None for enter in used) > 8
    assert tried.count(True) > 30
    del tried[:]
    monkeypatch.setattr(region_site, "entry", lambda *args: None)
    monkeypatch.setattr(site, "_sites", {})
    again = derivatives(program)
    assert tried.count(True) > 30
    assert bits(found) == bits(again)


def test_what_is_not_finite_leaves_arrays_as_they_were(tried):
    def f(x, y):
        kept = {}
        try:
            for k in range(2):
                kept[str(k)] = k
                written(x, y if k else 0.5)
        finally:
            kept.clear()
        return np.sum(x)

    x = X.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        expected = value_and_grad(f)(x, np.inf)
        found = value_and_grad(f, compile=True)(x, np.inf)
    assert tried == [True, False]
    assert bits(found) == bits(expected)
    assert bits(x) == bits(X)
