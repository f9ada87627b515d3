"""Outputs of a rule that are views of one array: each has its cotangent, cells count once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, NoRData, grad, jvp, rrule
from mooncake_py.rules.declare import from_vjp
from tests.support.pairs import pairwise

X = np.array([0.3, 0.8, 1.1])
PARTS = {
    "disjoint": (slice(0, 3), slice(3, 6)),
    "the same": (slice(None), slice(None)),
    "overlapping": (slice(0, 4), slice(2, 6)),
    "one within": (slice(None), slice(1, 5)),
    "one around": (slice(1, 5), slice(None)),
    "interleaved": (slice(0, 6, 2), slice(5, None, -2)),
}


def parts(x: Any, name: str) -> Any:
    y = np.sin(np.concatenate([x, x]))
    first, second = PARTS[name]
    return y[first], y[second]


@from_vjp(parts)
def parts_rule(x: Any, name: str) -> Any:
    def pullback(dys: Any) -> Any:
        g = np.zeros(6)
        for where, dy in zip(PARTS[name], dys, strict=True):
            if dy is not None:
                g[where] += dy
        g *= np.cos(np.concatenate([x, x]))
        return g[:3] + g[3:], None

    return parts(x, name), pullback


def parts_by_hand(x: Any, name: str) -> Any:
    return parts(x, name)


@rrule.register(parts_by_hand, mutates=())
def parts_by_hand_rule(_: Any, x: Any, name: Any) -> Any:
    y = np.sin(np.concatenate([x.primal, x.primal]))
    dy = np.zeros(6)
    places = PARTS[name.primal]
    out = CoDual(tuple(y[w] for w in places), tuple(dy[w] for w in places))

    def pullback(_: Any) -> Any:
        g = dy * np.cos(np.concatenate([x.primal, x.primal]))
        x.fdata[...] += g[:3] + g[3:]
        return NoRData(), NoRData(), NoRData()

    return out, pullback


@pytest.mark.parametrize(
    ("f", "name", "writes"), pairwise([parts, parts_by_hand], PARTS, [False, True])
)
def test_each_part_counts(f: Any, name: str, writes: bool) -> None:
    def loss(x: Any) -> Any:
        a, b = f(x, name)
        if writes:
            b[0] = b[0] * x[0]
            a[1] = a[1] + x[2]
        return np.sum(a**2 * np.arange(1, len(a) + 1)) + np.sum(b**3 * np.arange(2, len(b) + 2))

    steps = 1e-6 * np.eye(3)
    expected = np.array([(loss(X + s) - loss(X - s)) / 2e-6 for s in steps])
    np.testing.assert_allclose(grad(loss)(X), expected, rtol=1e-7)
    np.testing.assert_allclose(grad(loss, debug=True)(X), expected, rtol=1e-7)
    if f is parts:  # handwritten rules are for reverse mode
        np.testing.assert_allclose(jvp(loss, (X,), (X,))[1], expected @ X, rtol=1e-7)


@pytest.mark.parametrize("used", [0, 1])
def test_one_part_alone(used: int) -> None:
    def loss(x: Any) -> Any:
        return np.sum(parts(x, "disjoint")[used] ** 2)

    np.testing.assert_allclose(grad(loss)(X), np.sin(2 * X))
