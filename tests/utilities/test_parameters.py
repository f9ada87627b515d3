"""Gradients with respect to what a function reaches without arguments."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    Grads,
    InvalidTangentError,
    NonDifferentiableArgumentError,
    NonScalarOutputError,
    Params,
    PullbackReuseError,
    debug_mode,
    grad,
    gradient,
    pullback,
)

pytestmark = pytest.mark.without_modes(
    "parameters are memory that the function reaches, not its arguments"
)

W = np.array([[1.0, 2.0], [3.0, 4.0]])
B = np.array([0.5, -1.0])
X = np.array([2.0, 3.0])

MODES = pytest.mark.parametrize("mode", [contextlib.nullcontext, debug_mode])


def model(x: np.ndarray) -> np.ndarray:
    return W @ x + B


def loss() -> Any:
    return np.sum(model(X) ** 2)


@MODES
def test_globals(mode: Any) -> None:
    with mode():
        grads = gradient(loss, params=Params([W, B]))
    r = 2 * model(X)
    np.testing.assert_allclose(grads[W], np.outer(r, X))
    np.testing.assert_allclose(grads[B], r)


class Layer:
    def __init__(self, w: np.ndarray) -> None:
        self.w = w
        self.scale = 2.0
        self.options = {"power": 3.0, "name": "layer"}

    def __call__(self, x: np.ndarray) -> Any:
        return np.sum(self.w * x) ** self.options["power"] * self.scale


@MODES
def test_captured_variables_attributes_and_defaults(mode: Any) -> None:
    captured, default = X.copy(), X + 1.0
    layer = Layer(X + 2.0)

    def f(default: np.ndarray = default) -> Any:
        return np.sum(captured * default * layer.w)

    with mode():
        grads = gradient(f, params=Params([captured, default, layer.w]))
    np.testing.assert_allclose(grads[captured], default * layer.w)
    np.testing.assert_allclose(grads[default], captured * layer.w)
    np.testing.assert_allclose(grads[layer.w], captured * default)


@MODES
def test_objects_and_containers(mode: Any) -> None:
    layer = Layer(X.copy())
    weights = [1.0, {"k": X.copy()}]
    f = lambda: layer(X) + weights[0] * np.sum(weights[1]["k"])  # noqa: E731
    with mode():
        grads = gradient(f, params=Params([layer, weights]))
    s = np.sum(X * X)
    np.testing.assert_allclose(grads[layer].w, 2.0 * 3.0 * s**2 * X)
    np.testing.assert_allclose(grads[layer].scale, s**3)
    np.testing.assert_allclose(grads[layer].options["power"], 2.0 * s**3 * np.log(s))
    assert grads[weights][0] == X.sum()
    np.testing.assert_array_equal(grads[weights][1]["k"], np.ones(2))
    assert layer.scale == 2.0
    assert weights[0] == 1.0


@MODES
def test_parameters_that_are_written_in_place(mode: Any) -> None:
    w = X.copy()
    view = w[:1]

    def f() -> Any:
        view[...] *= 2.0
        w[1] = w[0] * w[1]
        return np.sum(w * w)

    with mode():
        grads = gradient(f, params=Params([w, view]))
    a, b = X
    np.testing.assert_allclose(grads[w], [8 * a + 8 * a * b * b, 8 * a * a * b])
    np.testing.assert_allclose(grads[view], grads[w][:1])
    np.testing.assert_array_equal(w, X)


def test_view_as_parameter_stands_for_its_part() -> None:
    grads = gradient(loss, params=Params([W[0]]))
    (row,) = grads
    np.testing.assert_allclose(grads[row], 2 * model(X)[0] * X)


def test_arguments_are_constants() -> None:
    grads = gradient(lambda x, n: np.sum(W @ x) ** n, X, 2, params=Params([W]))
    np.testing.assert_allclose(grads[W], 2 * np.sum(W @ X) * np.array([X, X]))


def test_parameter_that_is_not_used() -> None:
    other = np.ones(3)
    np.testing.assert_array_equal(gradient(loss, params=Params([other]))[other], np.zeros(3))


def test_training_loop() -> None:
    w, b = np.zeros(2), np.zeros(1)
    xs = np.random.default_rng(0).normal(size=(20, 2))
    ys = xs @ [1.0, -2.0] + 0.5
    params = Params([w, b])
    for _ in range(200):
        for p, g in gradient(lambda: np.mean((xs @ w + b - ys) ** 2), params=params).items():
            p -= 0.2 * g
    np.testing.assert_allclose([*w, *b], [1.0, -2.0, 0.5], rtol=1e-6)


def test_collections() -> None:
    params = Params([W, B, W])
    assert len(params) == 2
    assert W in params
    assert W.copy() not in params
    assert repr(params) == "Params([float64[2, 2], float64[2]])"
    grads = gradient(loss, params=[W, B])
    assert type(grads) is Grads
    assert len(grads) == 2
    assert [p is q for p, q in zip(grads, params, strict=True)] == [True, True]
    assert B in grads
    assert repr(grads) == "Grads of Params([float64[2, 2], float64[2]])"
    with pytest.raises(KeyError, match="found by identity"):
        grads[B.copy()]


@pytest.mark.parametrize("value", [1.0, 3, None, (1.0, 2.0), np.arange(3), [1, 2], "text"])
def test_what_cannot_be_a_parameter(value: Any) -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="cannot make parameter 1 of"):
        Params([W, value])


@pytest.mark.parametrize("values", [W, {"w": W}])
def test_one_parameter_without_a_list(values: Any) -> None:
    with pytest.raises(TypeError, match=r"takes a list of parameters, not .*: Params\(\[x\]\)"):
        Params(values)
    with pytest.raises(TypeError, match="takes a list of parameters"):
        gradient(loss, params=values)


def test_errors_name_the_function() -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="no parameters"):
        gradient(loss, params=Params([]))
    with pytest.raises(NonScalarOutputError, match="returned an array of shape") as caught:
        gradient(lambda: W @ B, params=Params([W]))
    assert "the lambda at test_parameters.py" in str(caught.value)


# Pullbacks.


@MODES
def test_pullback(mode: Any) -> None:
    layer = Layer(X.copy())

    def f() -> Any:
        B[0] *= 2.0
        return model(X) * layer.scale

    before = B.copy()
    with mode():
        y, back = pullback(f, params=Params([W, B, layer]))
        np.testing.assert_array_equal(B, before)
        for dy in (np.array([1.0, 0.0]), np.array([1.0, 10.0])):
            grads = back(dy)
            np.testing.assert_allclose(grads[W], 2.0 * np.outer(dy, X))
            np.testing.assert_allclose(grads[B], 2.0 * dy * [2.0, 1.0])
            np.testing.assert_allclose(grads[layer].scale, dy @ y / 2.0)
            np.testing.assert_array_equal(B, before)


def test_pullback_after_an_update_is_an_error() -> None:
    w = X.copy()
    y, back = pullback(lambda: w * w, params=Params([w]))
    y[...] = 0.0  # is not the parameter
    w += 1.0
    with pytest.raises(PullbackReuseError, match="changed since the forward pass"):
        back(np.ones(2))
    w[...] = X
    np.testing.assert_allclose(back(np.ones(2))[w], 2 * X)


def test_cotangent_of_another_shape() -> None:
    _, back = pullback(lambda: W @ X, params=Params([W]))
    with pytest.raises(InvalidTangentError, match="does not fit the output"):
        back(1.0)


@pytest.mark.parametrize("debug", [False, True])
def test_inside_of_another_derivative(debug: bool) -> None:
    w = X.copy()

    def f(x: float) -> Any:
        return x * np.sum(gradient(lambda: np.sum(w * w), params=Params([w]))[w])

    assert grad(f, debug=debug)(3.0) == 2 * X.sum()
