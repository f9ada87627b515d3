"""Lists of lists of numbers that loops make, and lists that take the place of one another."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.every_way import POINT, require_agreement, require_whole

pytestmark = pytest.mark.plain


def neighbours(x, limit):
    found = []
    for i in range(len(x)):
        near = np.flatnonzero(np.abs(x[i + 1 :] - x[i]) < limit)
        found.append([i + 1 + int(j) for j in near])
    return found


def energies(x, a):
    total = 0.0
    pairs = neighbours(x, 1.0)
    for i, others in enumerate(pairs):
        for j in others:
            total += a / (1.0 + (x[i] - x[j]) ** 2)
        total += 0.1 * len(others)
    return total + len(pairs[0]) + pairs[-2][0] * a


def floats(x, a):
    rows = []
    for i in range(len(x)):
        row = []
        for j in range(i):
            row.append(x[j] * a**i)
        rows.append((i, row))
    total = 0.0
    for i, row in rows:
        for v in row:
            total += np.sin(v) * (i + 1)
    return total + sum(rows[-1][1]) * rows[2][1][0]


class Pairs:
    """Neighbours that are found again once something has moved."""

    def __init__(self):
        self.pairs = []
        self.at = None
        self.count = 0

    def update(self, x):
        if self.at is not None and np.max(np.abs(x - self.at)) < 0.15:
            return
        self.pairs = neighbours(x, 1.0)
        self.at = x.copy()
        self.count += 1


def moved(x, a):
    x = x.copy()
    near = Pairs()
    near.update(x)
    total = 0.0
    for _ in range(6):
        for i, others in enumerate(near.pairs):
            for j in others:
                x[i] -= 0.1 * a * (x[i] - x[j])
                total += x[i] * x[j]
        x *= 1.1
        near.update(x)
    return total + near.count * a + len(near.pairs[0])


def kept_by_another_name(x, a):
    near = Pairs()
    near.update(x)
    first = near.pairs
    y = x.copy()
    for _ in range(3):
        y = y * 1.5
        near.update(y)
    total = 0.0
    for i, others in enumerate(first):
        for j in others:
            total += a * x[i] * x[j]
    return total + len(near.pairs[0]) + 10 * len(first[0]) + near.count


def changed_after(x, a):
    rows = []
    for i in range(len(x)):
        row = [x[i]]
        for j in range(i):
            row.append(a * x[j])
        rows.append(row)
        row.append(a)
        rows[-1][0] = 2.0 * a
    return sum(sum(row) for row in rows) + rows[1][-1]


def one_list_again_and_again(x, a):
    rows, row = [], []
    for i in range(len(x)):
        row.append(x[i] * a)
        rows.append(row)
    return rows[0][-1] + sum(rows[1]) + len(rows[0])


def grown_later(x, a):
    rows = []
    for i in range(len(x)):
        rows.append([a * x[j] for j in range(i)])
    rows[1].append(a * a)
    return sum(rows[1]) + sum(rows[3])


@pytest.mark.parametrize("f", [energies, floats, moved])
def test_lists_of_lists_are_compiled(f, tried):
    require_whole(f, tried)


@pytest.mark.parametrize(
    "f", [kept_by_another_name, changed_after, one_list_again_and_again, grown_later]
)
def test_lists_that_have_other_names(f):
    require_agreement(f)


def test_other_lengths_need_no_other_text():
    f = value_and_grad(energies, (0, 1), compile=True)
    f(*POINT)
    for n in (3, 6, 9):
        x = 0.3 * np.arange(n) + 0.1 * np.sin(np.arange(n))
        value, g = f(x, 0.3)
        assert report(energies)[0].found == "compiled"
        expected, h = value_and_grad(energies, (0, 1))(x, 0.3)
        assert value == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(g[0], h[0], rtol=1e-11, atol=1e-13)
