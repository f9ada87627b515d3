"""Comprehensions, and functions of what generators yield."""

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
Y = np.array([0.3, 0.9, -0.5, 1.1])


def known_items(x, y):
    parts = [(k, a) for k, a in enumerate((x, y, x * y)) if k != 1]
    table = {name: a for name, (_, a) in zip("ab", parts, strict=True)}
    rows = [[a[i] * b[i] for a in (x, y)] for i, b in ((0, y), (3, x))]
    total = sum(np.sum(a) * (k + 1) for k, a in parts) + np.sum(table["b"] * table["a"])
    return total + rows[0][1] * rows[1][0] + np.sum(np.array(rows) * 2.0)


def objects_of_arrays(x, y):
    pairs = [(i, j) for i in range(4) for j in range(i)]
    total = sum(x[i] * y[j] for i, j in pairs)
    turn = sum(np.cross(x[:3], y[k : k + 3] * (k + 1)) for k in range(2))
    return total + np.sum(turn * turn) + math.prod(a + 2.0 for a in (x[0], x[1], y[2]))


def with_tests(x, y):
    large = [a * b for a, b in zip(x, y, strict=True) if a > 0]
    pairs = [a - b for a in x for b in y if a > b if b > -1.0]
    chosen = [a for a in (x[0], x[1], y[0]) if a > 0]
    s = sum(a * a for a in x if a > 0.5) + sum(a for a in y if a > 100.0)
    return sum(large) + sum(pairs) * len(pairs) + s + chosen[0] * len(chosen)


def truths(x, y):
    total = x[0]
    if any(a > 1.5 for a in x):
        total += y[0]
    if all(a > 0 for a in y):
        total *= 2.0
    if any(a < b for a in x for b in y) and not all(a < 5 for a in (x[0], y[1])):
        total += 1.0
    if any(name == "b" for name in ("a", "b")) and all([x[0] > 0, y[0] < 5]):
        total += x[1]
    name = "found" if any(k > 2 for k in (1, 2, 3)) else None
    return total if name is None else total * y[1]


def by_keys(x, y):
    best = min((x[0], x[1], y[2]), key=lambda a: a * a)
    row = max([x, y, x * y], key=lambda a: a[1])
    where, value = min(enumerate(y[:3] * 2), key=lambda p: p[1])
    return best + np.sum(row * y) + value * (where + 1) + min([], default=3.0) * x[0]


def by_constants(x, y):
    names = sorted(["b", "a"])
    last = max((("p", 2), ("q", 5), ("r", 4)), key=lambda p: p[1])
    items = [x, y]
    return (x[0] if last[0] == "q" else y[0]) * np.sum(items[len(names) - 1])


def names_stay(x, y):
    a = x[0]
    squares = [a * a for a in y]
    i = 2
    inner = [[a + i for a in range(i)] for i in range(3)]
    return squares[1] * a + i * inner[2][1] * y[0]


def writes(x, y):
    for row in [x, x, y]:
        row[0] += 1.0
    values = [a * 2.0 for a in x]
    x[0] = 0.0
    return sum(values) * y[0]


FUNCTIONS = [
    known_items, objects_of_arrays, with_tests, truths, by_keys, by_constants, names_stay, writes,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_agree_with_the_plain_way(f, tried) -> None:
    rng = np.random.default_rng(5)
    for n in range(4):
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


def of_unknown(x):
    return len({a: a for a in range(len(x))})


def test_a_dict_of_unknown_length_is_refused() -> None:
    with pytest.raises(Unfit, match="as many items as are known only when it runs"):
        read_function(of_unknown, [type_of(X)])


def test_a_write_to_either_name_of_what_a_test_chooses_is_refused() -> None:
    def f(x, y):
        row = max([x, y], key=lambda a: a[1])
        x[0] = 5.0
        return np.sum(row * y)

    found = value_and_grad(f, (0, 1), compile=True)(X.copy(), Y[::-1].copy())
    value, g = value_and_grad(f, (0, 1))(X.copy(), Y[::-1].copy())
    assert_allclose(found[0], value)
    assert_allclose(found[1], g)
