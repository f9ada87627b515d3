"""Linear functions of one array: the quick way, and what must not take it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp, linear, local_rules, vjp
from mooncake_py.modes.reverse.recorder import Recorder

X = np.array([[0.3, -1.2, 0.7], [0.5, 2.0, -0.4]])

FUNCTIONS: dict[str, Any] = {
    "copy": lambda x: x.copy(),
    "copy in another order": lambda x: x.copy(order="F"),
    "roll": lambda x: np.roll(x, 1),
    "roll by name": lambda x: np.roll(x, shift=-1, axis=1),
    "repeat": lambda x: np.repeat(x, 2),
    "tile": lambda x: np.tile(x, 3),
    "running sum": lambda x: np.cumsum(x, axis=1),
    "differences": lambda x: np.diff(x, n=2),
    "differences after a number": lambda x: np.diff(x, prepend=1.5),
    "padded by a number": lambda x: np.pad(x, 1, constant_values=3.0),
    "padded": lambda x: np.pad(x, 1),
    "sum": lambda x: np.sum(x),
    "sum with a start": lambda x: np.sum(x, initial=2.0),
    "sum with a start, by position": lambda x: np.sum(x, 0, None, None, False, 2.0),
    "sum along an axis": lambda x: x.sum(axis=0, keepdims=True),
    "mean": lambda x: x.mean(1),
    "trace": lambda x: np.trace(x),
    "triangle": lambda x: np.triu(x, 1),
    "single precision": lambda x: x.astype(np.float32),
    "view": lambda x: x.reshape(3, 2)[::-1].T,
    "view of a copy": lambda x: np.roll(x, 2).ravel(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_the_map_itself(name):
    f = FUNCTIONS[name]
    along = np.cos(np.arange(6.0)).reshape(2, 3)
    moved = np.asarray(f(X + along)) - np.asarray(f(X))
    value, tangent = jvp(f, (X,), (along,))
    assert_allclose(value, f(X), rtol=0.0)
    assert_allclose(tangent, moved, rtol=1e-5, atol=1e-6)
    g = np.sin(1.0 + np.arange(moved.size)).reshape(moved.shape).astype(moved.dtype)
    (pulled,) = vjp(f, X)[1](g if moved.ndim else g[()])
    assert_allclose(np.sum(pulled * along), np.sum(g * moved), rtol=1e-5)


def test_what_is_written_afterwards():
    def f(x):
        y = x.copy()
        y[0] *= 2.0
        z = np.roll(y, 1, axis=0)
        y[1] = 0.0
        z += x
        return np.sum(z * z) + np.sum(y)

    x, h = X.copy(), 1e-6
    expected = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        expected[i] = (f(x + e) - f(x - e)) / (2 * h)
    assert_allclose(grad(f)(x), expected, rtol=1e-7)
    assert_allclose(jvp(f, (x,), (x,))[1], np.sum(expected * x), rtol=1e-7)


@pytest.mark.without_modes("the adjoint is none of the function, on purpose")
def test_rules_of_the_user_hold():
    with local_rules():

        @linear(np.ndarray.copy, replace=True)
        def copy_adjoint(dy, a, order="C"):
            return 3.0 * dy

        assert_allclose(grad(lambda x: np.sum(x.copy()))(X), np.full((2, 3), 3.0))
    assert_allclose(grad(lambda x: np.sum(x.copy()))(X), np.ones((2, 3)))


@pytest.mark.plain
@pytest.mark.parametrize("name", ["copy", "roll", "sum along an axis", "triangle"])
def test_these_take_the_quick_way(name, monkeypatch):
    taken = []
    original = Recorder.record_linear
    monkeypatch.setattr(
        Recorder, "record_linear", lambda *args: taken.append(name) or original(*args)
    )
    vjp(FUNCTIONS[name], X)
    assert taken == [name]
