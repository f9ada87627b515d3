"""Pullbacks of `vjp`: cotangents that they refuse, and runs of the function in later calls."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    InvalidTangentError,
    NestedDerivativeError,
    Params,
    grad,
    jvp,
    pullback,
    vjp,
)

X = np.array([1.0, 2.0])


@pytest.mark.parametrize("compile", [False, True])
@pytest.mark.parametrize(
    ("f", "dy", "path"),
    [
        (lambda x: np.sum(x * x), 1j, "dy"),
        (lambda x: np.sum(x * x), np.complex128(1.0), "dy"),
        (lambda x: x * x, X * 1j, "dy"),
        (lambda x: [x * x, x[0]], [X, 1j], r"dy\[1\]"),
        (lambda x: (x * x, 1j * x), (X * 1j, X * 1j), r"dy\[0\]"),
    ],
)
def test_a_complex_cotangent_of_a_real_output_is_refused(f: Any, dy: Any, path: str, compile: bool):
    if compile:
        pytest.importorskip("llvmlite")
    _, pullback = vjp(f, X, compile=compile)
    with pytest.raises(InvalidTangentError, match=rf"{path}.* real numbers(.|\n)*{path}\.real"):
        pullback(dy)


def test_a_complex_cotangent_is_refused_inside_a_derivative():
    with pytest.raises(InvalidTangentError, match=r"real numbers(.|\n)*test_pullback\.py"):
        grad(lambda x: np.sum(vjp(np.square, x)[1](x * 1j)[0].real))(X)


def test_a_real_cotangent_of_a_complex_output_is_complex():
    _, pullback = vjp(lambda x: (1 + 2j) * x, X)
    np.testing.assert_array_equal(pullback(X)[0], X)


@pytest.mark.without_modes("what is compiled keeps what it read", "compiled")
def test_a_name_bound_to_something_else_before_a_later_call():
    w = np.array([3.0, 4.0])

    def f(x: Any) -> Any:
        return np.sum(x * w)

    _, pullback = vjp(f, X)
    w = np.array([5.0, 6.0])
    np.testing.assert_array_equal(pullback(1.0)[0], [3.0, 4.0])
    with pytest.raises(NestedDerivativeError, match=r"call of the pullback(.|\n)*call vjp again"):
        pullback(1.0)


SCRATCH = np.array([2.0, 3.0])
HELD: Any = {"c": np.array([2.0, 3.0]), "n": 2.0}
ITEMS = [2.0, 3.0]


def into_scratch(x: Any) -> Any:
    SCRATCH[:] = x * x
    return SCRATCH * x


def into_dict(x: Any) -> Any:
    HELD["c"][:] = 0.0
    HELD["n"] = 5.0
    return {"c": x * x, "n": np.sum(x)}


def into_list(x: Any) -> Any:
    ITEMS[0] = x[0]
    ITEMS.reverse()
    return [x[0] * x[0], x[1]]


SHARING = [
    (into_scratch, lambda: SCRATCH, 3 * X**2 * [2.0, 3.0]),
    (into_scratch, lambda: SCRATCH[::-1], 3 * X**2 * [3.0, 2.0]),
    (into_dict, lambda: HELD, 2 * X * [2.0, 3.0] + 2.0),
    (into_list, lambda: ITEMS, [4 * X[0], 3.0]),
]


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(("f", "cotangent", "expected"), SHARING)
def test_a_cotangent_that_the_function_changes(f: Any, cotangent: Any, expected: Any, debug: bool):
    _, pull = vjp(f, X, debug=debug)
    for _ in range(2):
        np.testing.assert_allclose(pull(cotangent())[0], expected)
    assert SCRATCH.tolist() == ITEMS == [2.0, 3.0]
    assert HELD["n"] == 2.0


@pytest.mark.parametrize("way", [grad, lambda f: lambda x: jvp(f, (x,), (np.ones(2),))[1]])
@pytest.mark.parametrize(("f", "cotangent", "expected"), SHARING[:2])
def test_inside_a_derivative(f: Any, cotangent: Any, expected: Any, way: Any):
    slope = way(lambda x: np.sum(vjp(f, x)[1](cotangent())[0]))(X)
    second = 2 * np.asarray(expected) / X
    np.testing.assert_allclose(slope, second if np.ndim(slope) else np.sum(second))


def test_a_cotangent_that_is_active():
    def f(x: Any) -> Any:
        SCRATCH[:] = 2.0 * x
        return np.sum(vjp(into_scratch, x)[1](SCRATCH)[0])  # 6 x^3

    np.testing.assert_allclose(grad(f)(X), 18 * X**2)
    assert SCRATCH.tolist() == [2.0, 3.0]


def test_a_cotangent_of_what_depends_on_parameters():
    weights = X.copy()
    _, pull = pullback(lambda: into_scratch(weights), params=Params([weights]))
    np.testing.assert_allclose(pull(SCRATCH)[weights], 3 * X**2 * [2.0, 3.0])
