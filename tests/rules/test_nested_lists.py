"""Operands that are nested lists of different depth: broadcast as the arrays that they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, value_and_grad
from tests.support.directions import check_jvp

X = np.array([1.3, 0.7])


def draw(name: str, *, legacy: bool = False, size: Any = None) -> Callable[..., Any]:
    """Return draws of a distribution by two parameters."""

    def drawn(a: Any, b: Any) -> Any:
        generator = np.random.RandomState(0) if legacy else np.random.default_rng(0)
        return getattr(generator, name)(a, b, size)

    return drawn


def draw_by_one(name: str) -> Callable[..., Any]:
    """Return draws of a distribution by one parameter, more of them than parameters."""
    return lambda a, b: getattr(np.random.default_rng(0), name)(a, (5, 3, 2, 2))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "linspace": lambda a, b: np.linspace(a, b, 3),
    "linspace along the last axis": lambda a, b: np.linspace(a, b, 3, axis=-1),
    "steps of linspace": lambda a, b: np.linspace(a, b, 3, retstep=True)[1],
    "logspace": lambda a, b: np.logspace(a, b, 3),
    "geomspace": lambda a, b: np.geomspace(a, b, 3),
    "choose": lambda a, b: np.choose([[0, 1], [1, 1]], [a, b]),
    "select": lambda a, b: np.select([[True, False], [False, True]], [a, b], b),
    "where": lambda a, b: np.where([True, False], a, b),
    "quotients": lambda a, b: np.floor_divide(a, b) * X[0],
    "remainders": lambda a, b: np.divmod(a, b)[1],
    "add": np.add,
    "arctan2": np.arctan2,
    "clip": lambda a, b: np.clip(a, b, np.add(b, 1)),
    "mean of a variance": lambda a, b: np.var(a, axis=-1, mean=b),
    "insert": lambda a, b: np.insert(np.ones((3, 2, 2)), 0, a, axis=0),
    "size": draw("normal", size=(5, 3, 2, 2)),
    **{name: draw(name) for name in ("normal", "laplace", "logistic", "gumbel", "lognormal")},
    "uniform": lambda a, b: np.random.default_rng(0).uniform(a, np.add(b, 2)),
    "legacy": draw("normal", legacy=True),
    "legacy uniform": draw("uniform", legacy=True, size=(2, 3, 2, 2)),
    "scale of gamma": lambda a, b: np.random.default_rng(0).gamma(2.0, b, (5, 3, 2, 2)),
    "location of vonmises": lambda a, b: np.random.default_rng(0).vonmises(a, 2.0, (5, 3, 2, 2)),
    "triangular": lambda a, b: np.random.default_rng(0).triangular(a, 3.0, np.add(b, 5)),
    **{name: draw_by_one(name) for name in ("exponential", "rayleigh", "weibull", "pareto")},
    "power": draw_by_one("power"),
}

FORMS: dict[str, Callable[..., Any]] = {
    "rows": lambda x: [[x[0], 1.1], [2.0, x[1]]],
    "row": lambda x: [x[0], x[1] * x[0]],
    "one": lambda x: [x[1]],
    "arrays": lambda x: [x, [1.2, 2.0]],
    "deep": lambda x: [[[x[0]], [1.5]], [[x[1]], [2.5]], [[0.3], [0.4]]],
}
PAIRS = [("rows", "row"), ("arrays", "one"), ("row", "deep")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nested_lists_of_different_depth(name: str) -> None:
    f = FUNCTIONS[name]
    for pair in PAIRS:
        a, b = (FORMS[form] for form in pair)
        check_function(lambda x, a=a, b=b: f(a(x), b(x)), X)


def test_an_array_and_a_list() -> None:
    check_function(lambda x: np.random.default_rng(0).normal(x, [[1.0], [x[0]], [2.0]]), X)
    check_function(lambda x: np.linspace([[x[0]], [x[1]]], x, 3), X)


def matrix(x: Any) -> Any:
    return [[x[0] + 2, x[1]], [x[1], 2.0]]


STACK = [[3.0, 1.0], [1.0, 2.5]]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.solve([matrix(x), STACK], matrix(x)),
        lambda x: np.linalg.solve(matrix(x), [matrix(x), STACK]),
        lambda x: np.linalg.solve([matrix(x), STACK], [x[0], x[1]]),
        lambda x: np.matmul([matrix(x), STACK], [x[0], x[1]]),
        lambda x: np.linalg.eigvalsh([matrix(x), STACK]),
    ],
)
def test_typed_in_stacks(f: Callable[..., Any]) -> None:
    check_function(f, X)


@pytest.mark.parametrize(
    "f",
    [
        lambda sl, x: sl.solve([matrix(x), STACK], matrix(x)),
        lambda sl, x: sl.solve_triangular([matrix(x), STACK], matrix(x)),
        lambda sl, x: sl.solve_continuous_lyapunov([matrix(x), STACK], matrix(x)),
        lambda sl, x: sl.solve_discrete_lyapunov(np.divide(matrix(x), 9), [matrix(x), STACK]),
        lambda sl, x: sl.eigvalsh([matrix(x), STACK]),
    ],
)
def test_typed_in_stacks_in_scipy(f: Callable[..., Any]) -> None:
    sl = pytest.importorskip("scipy.linalg")
    check_function(lambda x: f(sl, x), X)


@pytest.mark.parametrize("pair", PAIRS)
def test_weights_of_logsumexp(pair: tuple[str, str]) -> None:
    special = pytest.importorskip("scipy.special")
    a, b = (FORMS[form] for form in pair)
    check_function(lambda x: special.logsumexp(a(x), b=b(x), axis=-1), X)


def test_second_derivatives_and_debug_mode() -> None:
    w = np.arange(4.0).reshape(2, 2)

    def f(x: Any) -> Any:
        return (w * np.logspace(FORMS["rows"](x), FORMS["row"](x), 3)).sum()

    np.testing.assert_array_equal(grad(f, debug=True)(X), grad(f)(X))
    v, h = np.array([0.3, -0.8]), 1e-5
    expected = (grad(f)(X + h * v) - grad(f)(X - h * v)) / (2 * h)
    np.testing.assert_allclose(hvp(f, (X,), v), expected, rtol=1e-7)


def check_function(f: Callable[..., Any], x: np.ndarray) -> None:
    """Compare value, tangent and gradient with the plain function and its differences."""
    check_jvp(f, x, rtol=1e-6)
    w = np.random.default_rng(1).normal(size=np.shape(f(x)))

    def weighted(x: Any) -> Any:
        return np.sum(w * f(x))

    value, slopes = value_and_grad(weighted)(x)
    assert value == weighted(x)
    check_gradient(weighted, slopes, x)


def check_gradient(f: Callable[..., Any], slopes: np.ndarray, x: np.ndarray) -> None:
    """Compare a gradient with central differences."""
    h = 1e-6
    expected = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)]
    np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-6)
