"""Attributes of objects of a loop, as one array."""

from __future__ import annotations

import math

import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain


class Spring:
    def __init__(self, x, v, k):
        self.x, self.v, self.k = x, v, k

    def step(self, dt):
        self.x += dt * self.v
        self.v -= dt * math.sin(self.x) * self.k


def springs(all_of_them, dt, n):
    for _ in range(n):
        for p in all_of_them:
            p.step(dt)
    e = 0.0
    for p in all_of_them:
        e += p.x * p.x + p.v * p.v * p.k**2 + p.k // 3 + p.k / 7 + p.k % 2
        for q in all_of_them:
            e += 0.01 * p.x * q.v * q.k**-1
    return e


def test_one_int_among_floats_leaves_loops_what_they_are(tried) -> None:
    for k, name, value in ((17, "k", 2), (0, "k", 2), (0, "x", 3), (5, "v", 0)):
        made = [Spring(0.1 * i, 1.0, 2.0 + i) for i in range(60)]
        setattr(made[k], name, value)
        del tried[:]
        found, g = value_and_grad(springs, 0, compile=True)(made, 0.01, 20)
        expected, h = value_and_grad(springs, 0)(made, 0.01, 20)
        require_compiled(springs, tried)
        assert_allclose(found, expected, rtol=1e-13)
        for t, u in zip(g, h, strict=True):
            for attribute in ("x", "v", "k"):
                mine, theirs = getattr(t, attribute), getattr(u, attribute)
                assert type(mine) is type(theirs)  # none for ints
                if isinstance(theirs, float):
                    assert_allclose(mine, theirs, rtol=1e-9)
