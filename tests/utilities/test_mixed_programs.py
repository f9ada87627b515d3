"""Random programs that work in place, with utilities strewn in, against finite differences.

Hooks that return what they get, clipping by a bound that is never reached and logging must change
nothing.  A stopped value is a constant: the differences replay what it was at the center.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    clip_gradient,
    debug_mode,
    grad,
    gradient,
    hook,
    ignore_derivatives,
    stop_gradient,
    vjp,
)

pytestmark = pytest.mark.without_modes("a hook changes the cotangent alone; vjp copies parameters")

SIZE = 4


class State:
    def __init__(self, x: np.ndarray) -> None:
        self.x = x
        self.y = x[::-1] * 0.7
        self.parts = [x * 0.5, {"v": np.ones((2, SIZE)), "k": 1.5}]


def program(seed: int, stop: Callable[[Any], Any], log: list[Any]) -> Callable[[Any], Any]:
    """Return a function of one vector: twelve random steps on a few arrays and numbers."""

    def targets(s: State) -> list[np.ndarray]:
        return [s.x, s.y, s.parts[0], s.parts[1]["v"][0], s.parts[1]["v"][1], s.y[::-1]]

    def f(x: np.ndarray) -> Any:
        rng = np.random.default_rng(seed)
        s = State(x)
        for _ in range(12):
            kind = int(rng.integers(13))
            a, b = (targets(s)[int(rng.integers(6))] for _ in range(2))
            i, j = int(rng.integers(SIZE)), int(rng.integers(SIZE))
            if kind == 0:
                a[...] = np.sin(b) * s.parts[1]["k"]
            elif kind == 1:
                a += 0.5 * b
            elif kind == 2:
                a[i] = b[j] * a[j]
            elif kind == 3:
                a[1:] = hook(lambda g: g, b[:-1])
            elif kind == 4:
                a[...] = hook(lambda g: None, a)
                a *= 1.1
            elif kind == 5:
                s.parts[1]["k"] = hook(lambda g: 1.0 * g, b[i] * s.parts[1]["k"])
            elif kind == 6:
                a[...] = a * stop(b) + b
            elif kind == 7:
                s.parts[1]["k"] += stop(s.parts[1]["k"]) * a[i]
            elif kind == 8:
                s.parts = hook(lambda g: g, s.parts)
            elif kind == 9:
                s = clip_gradient(s, norm=1e12)
            elif kind == 10:
                ignore_derivatives(log.append, (a[i], s.parts[1]["k"]))
            elif kind == 11:
                old = stop(s.parts)
                a -= old[0] * b
                old[0][...] = 0.0
            else:
                b = hook(lambda g: g, a)
                b[i] = 3.0
                a *= b
        total = np.sum(s.x * s.y) + np.sum(s.parts[0]) + np.sum(s.parts[1]["v"]) * s.parts[1]["k"]
        return np.log1p(total * total)

    return f


def differences(seed: int, x: np.ndarray) -> np.ndarray:
    """Return the gradient by central differences, with stopped values as they are at `x`."""
    kept: list[Any] = []

    def keep(value: Any) -> Any:
        kept.append(stop_gradient(value))
        return stop_gradient(value)

    program(seed, keep, [])(x.copy())

    def value_at(moved: np.ndarray) -> float:
        replay: Iterator[Any] = iter(kept)
        return float(program(seed, lambda _: stop_gradient(next(replay)), [])(moved))

    h = 1e-5
    return np.array([(value_at(x + d) - value_at(x - d)) / (2 * h) for d in h * np.eye(SIZE)])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(20))
def test_random_program(seed: int) -> None:
    x = np.random.default_rng(1000 + seed).uniform(0.2, 0.9, SIZE)
    before = x.copy()
    log: list[Any] = []
    f = program(seed, stop_gradient, log)
    f(x.copy())
    plain, log[:] = list(log), []
    g = grad(f)(x)
    np.testing.assert_allclose(g, differences(seed, x), rtol=2e-5, atol=1e-8)
    np.testing.assert_array_equal(x, before)
    assert log == plain
    np.testing.assert_array_equal(grad(f)(x), g)
    np.testing.assert_array_equal(gradient(lambda: f(x), params=[x])[x], g)
    with debug_mode():
        _, pullback = vjp(f, x)
        np.testing.assert_allclose(pullback(1.0)[0], g, rtol=1e-12, atol=1e-14)
