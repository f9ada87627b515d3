"""Attributes that hold arrays, which one loop binds and another one within changes in place."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


class Path:
    def __init__(self, q, p):
        self.q, self.p = q, p

    def step(self, h, n):
        self.p += 0.5 * h * np.sin(-self.q)
        for _ in range(n):
            self.q += h * self.p
            self.p -= h * np.sin(self.q)


def leapfrog(x, a):
    path, total = Path(x.copy(), np.zeros_like(x)), 0.0
    for k in range(4):
        before = path.q.copy()
        path.p = np.cos(x * k)
        path.step(0.1 * a, 3)
        total += np.sum((path.q - before) ** 2) * a + path.p[k]
    return total


def under_two_names(x, a):
    path, total = Path(x.copy(), x * a), 0.0
    for k in range(3):
        path.p = x * (k + 1.0)
        kept = path.p
        for j in range(2):
            path.p += path.q * a  # `kept` sees it
            path.q *= kept[j] + 1.0
        total += kept @ path.p
    return total


def of_names(x, a):
    p, total = x.copy(), 0.0
    for k in range(3):
        p = np.sin(p) * a
        for j in range(3):
            if p[j] > 0.1:
                p += x * (j + k)
                continue
            p *= a
        total += p @ x
    return total + p[0]


def test_what_another_name_sees_is_right() -> None:
    require_agreement(under_two_names)


@pytest.mark.parametrize("f", [leapfrog, of_names])
def test_it_is_compiled_whole(f, tried) -> None:
    require_whole(f, tried)
