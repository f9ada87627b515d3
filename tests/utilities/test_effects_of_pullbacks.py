"""Pullbacks and reports that write into arrays: the derivative stays right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, from_vjp, grad, hook, progress, rrule, vjp
from mooncake_py.tangents import CoDual, NoRData

pytestmark = pytest.mark.without_modes("what happens on the reverse pass only")

X, W = np.array([1.0, 2.0]), np.ones(2)
CALLS: list[float] = []


class Layer:
    weights = W


def square(x: Any) -> Any:
    return x * x


def cube(x: Any) -> Any:
    return x**3


def fourth(x: Any) -> Any:
    return x**4


@from_vjp(square)
def square_rule(x: Any) -> Any:
    def pullback(dy: Any) -> Any:
        W[:] = W * 2 + 1
        CALLS.append(1.0)
        return dy * 2 * x

    return x * x, pullback


@from_vjp(cube)
def cube_rule(x: Any) -> Any:
    y = x**3

    def pullback(dy: Any) -> Any:
        dx = dy * 3 * x**2
        x[:] = 0.0
        y.fill(7.0)
        Layer.weights[0] = 5.0
        return dx

    return y, pullback


@rrule.register(fourth)
def fourth_rule(f: Any, x: Any) -> Any:
    values = x.primal
    y = CoDual(values**4, np.zeros_like(values))

    def pullback(dy: Any) -> Any:
        x.fdata[...] += 4 * values**3 * y.fdata
        np.add(W, 1.0, out=W)
        return NoRData(), NoRData()

    return y, pullback


MODES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "compiled": lambda f: grad(f, compile=True)(X),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(X),
    "pullback": lambda f: vjp(f, X)[1](1.0)[0],
}
POWERS = [(square, 2), (cube, 3), (fourth, 4)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("power", "n"), POWERS)
def test_writes_of_pullbacks_do_not_change_the_derivative(power: Any, n: int, mode: str) -> None:
    W[:] = 1.0

    def f(x: np.ndarray) -> Any:
        y = x * W
        return np.sum(power(y) * y * W)

    np.testing.assert_allclose(MODES[mode](f), (n + 1) * X**n)
    assert W.tolist() != [1.0, 1.0]
    W[:] = 1.0


@pytest.mark.parametrize("debug", [False, True])
def test_reports_that_write(debug: bool) -> None:
    W[:] = 1.0

    def f(x: np.ndarray) -> Any:
        y = x
        for _ in range(50):
            y = np.sin(y * W) + x
        return np.sum(y)

    def report(p: Any) -> None:
        if p.phase == "reverse":
            W[:] += 1.0

    expected = grad(f)(X)
    with progress(report, every=0.0):
        np.testing.assert_allclose(grad(f, debug=debug)(X), expected)
    assert W[0] > 1.0
    W[:] = 1.0


def test_a_hook_does_not_bring_about_the_writes_of_another_one() -> None:
    W[:] = 1.0

    def f(x: np.ndarray) -> Any:
        y = hook(lambda g: None, x * W)
        return np.sum(hook(lambda g: W.fill(9.0), y * W))

    np.testing.assert_allclose(grad(f)(X), 1.0)
    assert W.tolist() == [9.0, 9.0]
    W[:] = 1.0


def test_write_of_a_hook_into_what_the_function_writes_is_there_after_the_pullback() -> None:
    w = np.ones(2)

    def f(x: np.ndarray) -> Any:
        y = hook(lambda g: w.fill(0.0), x * w)
        w[:] *= 2.0
        return np.sum(y * w)

    np.testing.assert_allclose(grad(f)(X), 2.0)
    assert w.tolist() == [0.0, 0.0]
    w[:] = 1.0
    np.testing.assert_allclose(vjp(f, X)[1](1.0)[0], 2.0)
    assert w.tolist() == [0.0, 0.0]
