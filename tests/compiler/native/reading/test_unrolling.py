"""Loops over known items, read pass by pass."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading import unrolling
from mooncake_py.compiler.native.reading.reader import read_function
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

X = np.array([0.7, -1.2, 0.4, 2.0])
Y = np.array([0.3, 0.9, -0.5, 1.1])


def under_numbers(x, y):
    total = 0.0
    for k, a in enumerate((x[0], x[1], x[2], y[0])):
        if a < 0:
            continue
        if a > y[1]:
            total += 10.0 * a
            break
        total += a * (k + 1)
    else:
        total -= y[2]
    return total * y[3]


def under_constants(x, y):
    total = 0.0
    for name in ("sin", "skip", "cos", "stop", "tan"):
        if name == "skip":
            continue
        if name == "stop":
            break
        total += math.sin(x[0]) if name == "sin" else math.cos(x[1])
    else:
        total = None
    return total * y[0]


def nearest(x, y):
    best, found = np.inf, -1
    for n, s in enumerate([x[:2] * 2, x[1:3], y[:2]]):
        for t in (np.sum(s) - y[0], np.sum(s) + y[0]):
            if t > 1e-4:
                if t < best:
                    best, found = t, n
                break
    return best * (found + 1) if found >= 0 else y[0]


def first_root(x, y):
    return root(x[0], y[0]) * root(x[1], y[1]) + root(x[2], -3.0)


def root(b, c):
    for t in (-b - c, -b + c):
        if t > 1e-4:
            return t * t
    return 7.0 * b


def mixed(x, y):
    total = 0.0
    for letter, (a, b) in zip("abc", zip(x, y, strict=False), strict=False):
        total += a * b if letter != "b" else a - b
    for k, row in zip((3, 1), reversed(x), strict=False):
        total += row * y[k]
    for a, b in itertools.pairwise([x[0], y[1], x[2]]):
        total *= a - b
    for i, j in itertools.product(range(2), "ab"):
        total += x[i] * (2.0 if j == "a" else y[i])
    for i, j in itertools.combinations(range(3), 2):
        total += x[i] * y[j]
    for n in sorted((3, 1, 2), reverse=True):
        total = total * 1.5 + n * x[n]
    for a in itertools.chain((x[0], x[1]), [y[0]]):
        total = total * a
    return total


def arrays_bound(x, y):
    colour = x * y[0]
    for scale in (y[0], y[1], y[2]):
        if scale < 0:
            continue
        colour = colour + scale * x
        colour[0] *= 2.0
        if colour[1] < -1.5:
            break
    return np.sum(colour * colour)


def written_by_passes(x, y):
    for part in (x, y, x):  # one of them twice
        part *= 1.5
        if part[0] > 1.2:
            break
        part[1] = part[0]
    return np.sum(x * y)


def within_kept(x, y):
    total = 0.0
    for i in range(len(x)):
        for t in (x[i] - 0.5, x[i] * 2.0, y[i]):
            if t > 0.6:
                total += t * t
                break
            if t < -1.0:
                continue
            total += t
        else:
            total *= 1.5
    return total


def kept_within(x, y):
    total = 0.0
    for part, scale in ((x, 2.0), (y, 3.0)):
        for a in part:
            if a > 1.5:
                break
            total += scale * a * a
        if total > 4.0:
            break
    return total + x[0]


def indexed(x, y):
    parts = [x, y, x * y]
    total = 0.0
    for i, row in enumerate(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])):
        total += np.sum(parts[i] * row[0]) - row[1] * parts[i][0]
        if total < -100.0:
            break
    return total


FUNCTIONS = [
    under_numbers, under_constants, nearest, first_root, mixed, arrays_bound, written_by_passes,
    within_kept, kept_within, indexed,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_agree_with_the_plain_way(f, tried) -> None:
    rng = np.random.default_rng(5)
    for n in range(6):
        x, y = (a + (0.4 * rng.standard_normal(4) if n else 0.0) for a in (X, Y))
        value, g = value_and_grad(f, (0, 1))(x.copy(), y.copy())
        found, h = value_and_grad(f, (0, 1), compile=True)(x.copy(), y.copy())
        assert_allclose(found, f(x.copy(), y.copy()), rtol=1e-13)
        assert_allclose(found, value, rtol=1e-13)
        assert_allclose(h, g, rtol=1e-11, atol=1e-12)
        if not n:
            require_compiled(f, tried)
    direction = (np.cos(X), np.sin(Y))
    ways = [jvp(f, (X.copy(), Y.copy()), direction, compile=way) for way in (False, True)]
    assert_allclose(ways[1], ways[0], rtol=1e-11)
    of_x = lambda x: f(x, Y.copy())  # noqa: E731
    second = [hvp(of_x, (X.copy(),), np.cos(X), compile=way) for way in (False, True)]
    assert_allclose(second[1], second[0], rtol=1e-10, atol=1e-12)


TEXTS = ("a", "bb", "ccc", "d", "ee", "ffff", "g", "hh")


def many(x):
    total = 0.0
    for a in TEXTS:
        for b in TEXTS:
            for c in TEXTS:
                total = total * x[0] + math.sin(x[1] * (len(a) + len(b) * len(c)))
    return total


def by_tuples(x):
    total = 0.0
    for a, _ in sorted([(x[0], 1.0), (x[1], 2.0)]):
        total = total * 2.0 + a
    return total


@pytest.mark.parametrize(
    ("f", "why"),
    [(many, "statements in all"), (by_tuples, "use a key that is a float")],
    ids=["many", "by_tuples"],
)
def test_refused_with_a_reason(f, why, monkeypatch) -> None:
    monkeypatch.setattr(unrolling, "MOST_STATEMENTS", 100)
    with pytest.raises(Unfit, match=why):
        read_function(f, [type_of(X)])


def test_ends_before_the_known_items(tried) -> None:
    def f(x):
        total = 0.0
        for letter, a in zip("abc", x, strict=False):
            total += a * a if letter == "a" else a
        return total

    compiled = value_and_grad(f, compile=True)
    for n in (4, 2, 3):  # with two elements the zip ends before the text
        x = X[:n].copy()
        value, g = value_and_grad(f)(x)
        assert_allclose(compiled(x)[0], value)
        assert_allclose(compiled(x)[1], g)
