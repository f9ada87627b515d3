"""Utilities in parts of a program that run again on the reverse pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    UntrackedWriteError,
    checkpoint,
    clip_gradient,
    grad,
    gradient,
    hook,
    ignore_derivatives,
    nest_level,
    pullback,
    stop_gradient,
    wirtinger_derivatives,
)

pytestmark = pytest.mark.without_modes("a hook changes the cotangent alone")

X = np.array([1.0, 2.0])


@pytest.mark.parametrize("debug", [False, True])
def test_hooks_and_constants_in_place(debug: bool) -> None:
    seen: list[np.ndarray] = []

    def halve(g: np.ndarray) -> np.ndarray:
        seen.append(g.copy())
        return 0.5 * g

    def step(u: np.ndarray) -> None:
        u *= 3.0
        u[...] = hook(halve, u) * stop_gradient(u)

    def run(u: np.ndarray, checkpoint: Any) -> Any:
        for _ in range(3):
            checkpoint(step, u)
        return np.sum(u)

    expected = grad(lambda u: run(u, lambda f, u: f(u)))(X)
    once = list(seen)
    seen.clear()
    np.testing.assert_array_equal(grad(lambda u: run(u, checkpoint), debug=debug)(X), expected)
    np.testing.assert_array_equal(seen, once)


def test_clipping_of_numbers() -> None:
    def part(x: float) -> float:
        return clip_gradient(x, value=0.5) * stop_gradient(x)

    assert grad(lambda x: checkpoint(part, 3.0 * x))(2.0) == 1.5


def test_parameters() -> None:
    w = X.copy()
    square = lambda: hook(lambda g: 2.0 * g, w) ** 2  # noqa: E731
    g = gradient(lambda: np.sum(checkpoint(square)), params=[w])[w]
    np.testing.assert_array_equal(g, 4 * X)
    _, back = pullback(lambda: checkpoint(square), params=[w])
    np.testing.assert_array_equal(back(np.ones(2))[w], 4 * X)


def test_ignored_functions_run_once() -> None:
    log: list[Any] = []

    def step(u: np.ndarray) -> None:
        u *= 2.0
        ignore_derivatives(lambda: log.append((u[0], nest_level())))

    def f(u: np.ndarray) -> Any:
        checkpoint(step, u)
        return np.sum(u * u)

    np.testing.assert_array_equal(grad(f)(X), 8 * X)
    assert log == [(2.0, 0)]


def test_ignored_write_of_an_operand() -> None:
    c = np.ones(2)

    def part(u: np.ndarray) -> np.ndarray:
        v = u * c
        ignore_derivatives(c.fill, 3.0)
        return v

    with pytest.raises(UntrackedWriteError):
        grad(lambda u: np.sum(checkpoint(part, u)))(X)
    np.testing.assert_array_equal(c, np.ones(2))


def test_complex_derivatives() -> None:
    pair = wirtinger_derivatives(lambda z: checkpoint(lambda z: z * z.conjugate(), z))(1 + 2j)
    assert pair == (1 - 2j, 1 + 2j)
