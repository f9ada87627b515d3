"""Hooks that write into arrays: the derivative stays right, and the writes are there in the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import UntrackedWriteError, checkpoint, grad, hook, progress, vjp
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes("hooks run in reverse mode only")

X, START = np.array([1.0, 2.0]), [1.0, 3.0]
WEIGHTS = np.array(START)


class Model:
    weights = np.array(START)


WRITES: dict[str, Callable[[np.ndarray], Callable[[Any], Any]]] = {
    "fill": lambda w: lambda g: w.fill(0.0),
    "element": lambda w: lambda g: w.__setitem__(0, 5.0),
    "view": lambda w: lambda g, part=w[:1]: part.fill(7.0),
    "function": lambda w: lambda g: np.copyto(w, g),
    "sum": lambda w: lambda g: w.__iadd__(g) is None or None,
    "global": lambda w: lambda g: WEIGHTS.fill(0.0),
    "attribute": lambda w: lambda g: Model.weights.fill(0.0),
}


def arrays(w: np.ndarray) -> list[np.ndarray]:
    return [w, WEIGHTS, Model.weights]


def scaled(x: Any, w: np.ndarray) -> Any:
    """Return a product with all arrays that the hooks write."""
    return x * w * WEIGHTS * Model.weights


def last(h: Any, w: np.ndarray) -> Any:
    return lambda x: np.sum(hook(h, scaled(x, w)) ** 2)


def between(h: Any, w: np.ndarray) -> Any:
    return lambda x: np.sum(scaled(hook(h, np.sin(scaled(x, w))), w) ** 2)


def before_a_checkpoint(h: Any, w: np.ndarray) -> Any:
    return lambda x: np.sum(hook(h, checkpoint(lambda x: scaled(x, w) * x, x)))


def within_a_checkpoint(h: Any, w: np.ndarray) -> Any:
    return lambda x: checkpoint(lambda x: np.sum(hook(h, scaled(x, w)) ** 2), x)


def in_a_loop(h: Any, w: np.ndarray) -> Any:
    def f(x: np.ndarray) -> Any:
        total = 0.0
        for _ in range(2):
            total = total + np.sum(scaled(hook(h, x), w) * x)
        return total

    return f


def of_written(h: Any, w: np.ndarray) -> Any:
    def f(x: np.ndarray) -> Any:
        w[:] = w * 2
        return np.sum(hook(h, scaled(x, w)) ** 2)

    return f


def watched(f: Any) -> Any:
    with progress(lambda p: None, every=0.0):
        return grad(f)(X)


MODES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "compiled": lambda f: grad(f, compile=True)(X),
    "pullback": lambda f: vjp(f, X)[1](1.0)[0],
    "watched": watched,
}
PROGRAMS = [last, between, before_a_checkpoint, within_a_checkpoint, in_a_loop, of_written]


@pytest.mark.parametrize(("program", "mode"), rotating(PROGRAMS, MODES, times=2))
def test_writes_of_hooks_do_not_change_the_derivative(program: Any, mode: str) -> None:
    w = np.array(START)
    for name, write in WRITES.items():
        for a in arrays(w):
            a[:] = START
        expected = grad(program(lambda g: None, w))(X)
        np.testing.assert_allclose(MODES[mode](program(write(w), w)), expected, err_msg=name)
        if program is not of_written:
            assert any(a.tolist() != START for a in arrays(w)), name
    for a in arrays(w):
        a[:] = START


def test_later_calls_see_what_earlier_ones_wrote() -> None:
    w, seen = np.array(START), []

    def count(g: Any) -> None:
        seen.append(w[0])
        w[0] += 1.0

    g = grad(in_a_loop(count, w))(X)
    assert seen == [1.0, 2.0]
    assert w.tolist() == [3.0, START[1]]
    w[:] = START
    np.testing.assert_allclose(g, grad(in_a_loop(lambda g: None, w))(X))


def test_buffer_that_a_hook_returns() -> None:
    w = np.array(START)
    expected = grad(last(lambda g: 2.0 * g, w))(X)
    np.testing.assert_allclose(grad(last(lambda g: np.multiply(g, 2.0, out=w), w))(X), expected)


def test_arrays_that_the_derivative_does_not_use_are_written_at_once() -> None:
    found = np.zeros(2)
    np.testing.assert_array_equal(
        grad(lambda x: np.sum(hook(lambda g: np.copyto(found, g), x) ** 2))(X), 2 * X
    )
    np.testing.assert_array_equal(found, 2 * X)


def test_write_in_an_inner_derivative_is_refused() -> None:
    w = np.array(START)

    def f(x: np.ndarray) -> Any:
        inner = grad(lambda y: np.sum(hook(lambda g: w.fill(0.0), y * w)))(np.ones(2))
        return np.sum(x * w * x) + np.sum(inner)

    with pytest.raises(UntrackedWriteError, match="on the reverse pass"):
        grad(f)(X)
    assert w.tolist() == START
