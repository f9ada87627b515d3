"""Replacements that give the derivative: values, types and layout are the function's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad, vjp
from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.plain_values import derived_as, derived_as_writer
from tests.support.plain_results import differences, in_layouts

X = np.array([[0.3, 1.2, -0.7], [0.9, 0.1, 2.0]])


def new(body: Any, derivative: Any) -> Any:
    """Return a function of its own, whose derivative is that of another."""

    def function(*args: Any) -> Any:
        return body(*args)

    derived_as(function)(derivative)
    return function


def cubed(x: Any) -> Any:
    return x * x * x


ALIKE = {
    "other bits": (lambda x: np.power(x, 3), cubed),
    "other order": (lambda x: np.asfortranarray(x**3), cubed),
    "reversed": (lambda x: (x**3)[:, ::-1], lambda x: cubed(x)[:, ::-1].copy()),
    "a number of Python": (lambda x: float(np.sum(x**3)), lambda x: np.sum(cubed(x))),
    "parts": (lambda x: (x**3, 2, [x[0] ** 3]), lambda x: (cubed(x), 2, [cubed(x[0])])),
    "the argument": (lambda x: x, lambda x: x),
    "the argument for a copy": (lambda x: x, lambda x: x * 1.0),
    "memory": (lambda x: np.asfortranarray(x**3), lambda x: np.sign(x) * abs(x) ** 3),
}

ALIAS = "the argument for a copy"  # whose derivative is another's: it is a copy


@pytest.mark.parametrize("name", ALIKE)
def test_results_are_the_functions_own(name: str) -> None:
    f = new(*ALIKE[name])
    for label, args in in_layouts((X,)):
        found = [d for d in differences(f, args, {}) if "shares" not in d or name != ALIAS]
        assert not found, (label, found)


def test_parameters_of_less_precision_tell_how_precise_values_are() -> None:
    """The plain function computes with them in their precision, the replacement does not."""

    def root(x: Any, k: Any) -> Any:
        return x * np.float64(k ** np.float32(1 / 3))

    def smooth(x: Any, k: Any) -> Any:
        return x * float(k) ** (1 / 3)

    f, k = new(root, smooth), np.float32(0.7)
    assert not np.array_equal(root(X, k), smooth(X, k))
    (_, y), g = value_and_grad(lambda x: (np.sum(f(x, k)), f(x, k)), has_aux=True)(X)
    np.testing.assert_array_equal(y, root(X, k))
    np.testing.assert_allclose(g, np.full(X.shape, 0.7 ** (1 / 3)), rtol=1e-6)


@pytest.mark.parametrize("name", ["other bits", "other order", "reversed"])
def test_derivatives_are_those_of_the_replacement(name: str) -> None:
    f = new(*ALIKE[name])
    w = np.arange(6.0).reshape(2, 3)
    turned = w[:, ::-1] if name == "reversed" else w

    def loss(x: Any) -> Any:
        return np.sum(w * f(x))

    expected = 3 * turned * X**2
    np.testing.assert_allclose(grad(loss)(X), expected)
    np.testing.assert_allclose(grad(loss, debug=True)(X), expected)
    np.testing.assert_allclose(jvp(loss, (X,), (X,))[1], np.sum(expected * X))
    second = 6 * turned * X * X
    np.testing.assert_allclose(jvp(grad(loss), (X,), (X,))[1], second)
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(loss)(x) * X))(X), second)


def test_results_may_be_written() -> None:
    f = new(*ALIKE["reversed"])

    def loss(x: Any) -> Any:
        y = f(x)
        y[0] *= x[0]
        return np.sum(y)

    fd = (loss(X + 1e-6 * X) - loss(X - 1e-6 * X)) / 2e-6
    np.testing.assert_allclose(np.sum(grad(loss)(X) * X), fd, rtol=1e-8)
    np.testing.assert_allclose(jvp(loss, (X,), (X,))[1], fd, rtol=1e-8)


def test_another_value_is_an_error_that_names_the_function() -> None:
    f = new(lambda x: -(x**3), cubed)
    for take in (lambda: vjp(f, X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(MissingRuleError, match=r"function is not implemented.*arguments"):
            take()


def test_another_value_may_be_close() -> None:
    f = new(lambda x: x**3, lambda x: x**3 * (1 + 1e-10 * (x > 1)))
    assert np.all(vjp(f, np.minimum(X, 1.0))[0] == np.minimum(X, 1.0) ** 3)
    with pytest.raises(MissingRuleError, match="computes other values"):
        vjp(f, X)


@pytest.mark.without_modes("rounding is as large as derivatives", "compiled")
def test_badly_conditioned_values_are_the_functions_own() -> None:
    """As far from each other as roundings of the arguments move them."""
    n = np.arange(9)
    a, b = 1 / (n[:, None] + n + 1), np.ones(9)
    f = new(np.linalg.solve, lambda a, b: np.linalg.inv(a) @ b)
    plain, other = np.linalg.solve(a, b), np.linalg.inv(a) @ b
    assert np.max(np.abs(plain - other)) > 1e-11 * np.max(np.abs(plain))
    value, g = value_and_grad(lambda b: f(a, b)[0])(b)
    assert value == plain[0]
    np.testing.assert_allclose(g, np.linalg.inv(a)[0], rtol=1e-3)


def test_what_rounding_leaves_is_no_other_value() -> None:
    f = new(lambda x: x * 1e-17, lambda x: x * 3e-17)
    np.testing.assert_array_equal(vjp(f, X)[0], X * 1e-17)


def test_functions_that_write() -> None:
    def fill(x: Any, a: Any, b: Any) -> Any:
        a[...] = np.power(x, 3)
        b += np.sum(x, axis=0)
        return b

    def derivative(x: Any, a: Any, b: Any) -> Any:
        a[...] = cubed(x)
        for row in x:
            b += row
        return b

    def function(x: Any, a: Any, b: Any) -> Any:
        return fill(x, a, b)

    derived_as_writer(function, 1, 2)(derivative)

    def program(x: Any) -> Any:
        a, b = np.zeros((3, 2)).T, np.ones(3)
        c = function(x, a, b=b)
        return a, b, c, c is b

    assert not differences(program, (X,), {})

    def loss(x: Any) -> Any:
        a, b, _, _ = program(x)
        return np.sum(a) + np.sum(b * b)

    expected = 3 * X**2 + 2 * (1 + X.sum(axis=0))
    np.testing.assert_allclose(grad(loss)(X), expected)
    np.testing.assert_allclose(jvp(loss, (X,), (X,))[1], np.sum(expected * X))


def test_callbacks_run_as_often_as_in_the_plain_call() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")

    def f(x: Any) -> Any:
        calls = []

        def mapping(place: Any) -> Any:
            calls.append(place)
            return (0.8 * place[0] + 0.1 * x[0],)

        return ndimage.geometric_transform(x, mapping, order=1).sum() * len(calls)

    x = np.array([1.0, 2.5, 0.7, 3.1])
    value, g = value_and_grad(f)(x)
    assert value == f(x)
    h = 1e-6 * np.eye(4)
    np.testing.assert_allclose(g, [(f(x + e) - f(x - e)) / 2e-6 for e in h], rtol=1e-6)
