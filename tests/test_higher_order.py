"""Jacobians, Hessians, and derivatives of derivatives, against closed forms and differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import (
    debug_mode,
    grad,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    value_and_hvp,
    value_grad_and_hessian,
    vjp,
)
from mooncake_py.errors import InvalidTangentError, NonScalarOutputError
from tests.support.pairs import pairwise

RNG = np.random.default_rng(20261121)
MODES = ["auto", "forward", "reverse"]


def smoothed(u: np.ndarray, steps: int = 2) -> np.ndarray:
    """Work in place."""
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
    return u


def wide(x: np.ndarray) -> np.ndarray:
    """Return more numbers than go in, in another shape."""
    return np.stack([np.sin(x), x**3, x * x[::-1]])


def narrow(x: np.ndarray) -> np.ndarray:
    """Return fewer numbers than go in."""
    return np.array([np.sum(x**2), np.prod(x)])


def differences(f: Callable[..., Any], x: np.ndarray) -> np.ndarray:
    """Return the Jacobian by central differences, with the axes of `x` last."""
    columns = []
    for i in range(x.size):
        step = np.zeros(x.size)
        step[i] = 1e-6
        step = step.reshape(x.shape)
        columns.append((np.asarray(f(x + step)) - np.asarray(f(x - step))) / 2e-6)
    found = np.stack(columns, axis=-1)
    return found.reshape(*found.shape[:-1], *x.shape)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("shape", "f", "mode"), pairwise([(5,), (1,)], [smoothed, wide, narrow, np.sum], MODES)
)
def test_jacobian(f: Any, mode: Any, shape: Any) -> None:
    x = RNG.standard_normal(shape)
    before = x.copy()
    expected = differences(f, x)
    found = jacobian(f, mode=mode)(x)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(jacobian(f, mode=mode)(x), found)


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_a_matrix_has_all_its_axes(mode: Any) -> None:
    a = RNG.standard_normal((2, 3))
    found = jacobian(lambda a: a.T @ a, mode=mode)(a)
    assert found.shape == (3, 3, 2, 3)
    assert_allclose(found, differences(lambda a: a.T @ a, a), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_several_arguments_and_structures(mode: Any) -> None:
    def f(p, x):
        return {"y": p["w"] @ x, "n": x[0] * x[1]}

    w, x = RNG.standard_normal((2, 2)), np.array([1.0, 2.0])
    found = jacobian(f, argnums=(0, 1), mode=mode)({"w": w}, x)
    assert_allclose(found["y"][1], w)
    assert_allclose(found["n"][1], [2.0, 1.0])
    assert_allclose(found["y"][0]["w"], np.einsum("ik,j->ikj", np.eye(2), x))


def rosenbrock(x: np.ndarray) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def energy(u: np.ndarray) -> Any:
    return np.sum(smoothed(u, 3) ** 3)


@pytest.mark.parametrize("f", [
    rosenbrock,
    pytest.param(
        energy, marks=pytest.mark.without_modes("values are compared bit for bit", "compiled")
    ),
])  # fmt: skip
def test_hessian_and_its_relatives(f: Any) -> None:
    x, v = RNG.standard_normal(5), RNG.standard_normal(5)
    expected = differences(grad(f), x)
    found = hessian(f)(x)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert_allclose(found, found.T, rtol=1e-12, atol=1e-12)
    assert_allclose(hvp(f, (x,), v), found @ v, rtol=1e-12)
    assert_allclose(hessian_diagonal(f)(x), np.diag(found), rtol=1e-12, atol=1e-12)
    value, gradient, again = value_grad_and_hessian(f)(x)
    assert value == f(x.copy())
    assert_allclose(gradient, grad(f)(x), rtol=1e-14)
    np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("f", [rosenbrock, energy])
def test_four_ways_to_a_product_with_the_hessian(f: Any) -> None:
    x, v = RNG.standard_normal(5), RNG.standard_normal(5)
    ways = [
        jvp(grad(f), (x,), (v,))[1],  # forward over reverse
        grad(lambda x: jvp(f, (x,), (v,))[1])(x),  # reverse over forward
        grad(lambda x: np.dot(grad(f)(x), v))(x),  # reverse over reverse
        np.array(
            [jvp(lambda x: jvp(f, (x,), (v,))[1], (x,), (e,))[1] for e in np.eye(5)]
        ),  # forward over forward
    ]
    for found in ways:
        assert_allclose(found, hvp(f, (x,), v), rtol=1e-10, atol=1e-10)


def test_pearlmutter_of_a_pullback() -> None:
    x, v = RNG.standard_normal(5), RNG.standard_normal(5)
    _, dg = jvp(lambda x: vjp(rosenbrock, x)[1](1.0)[0], (x,), (v,))
    assert_allclose(dg, hessian(rosenbrock)(x) @ v, rtol=1e-12)


def test_third_derivatives_in_every_mix() -> None:
    def forward(f):
        return lambda x: jvp(f, (x,), (1.0,))[1]

    def sine(x):
        y = np.array([0.0])
        y += math.sin(x)
        return y[0] * x

    expected = -3 * math.sin(0.7) - 0.7 * math.cos(0.7)
    for a in (grad, forward):
        for b in (grad, forward):
            for c in (grad, forward):
                assert a(b(c(sine)))(0.7) == pytest.approx(expected, rel=1e-12)


# Perturbation confusion: Siskind & Pearlmutter, "Nesting forward-mode AD in a functional
# framework" (2008), and the example of Zygote's manual.


def forward(f: Any) -> Any:
    return lambda x: jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("inner", [grad, forward])
@pytest.mark.parametrize("outer", [grad, forward])
def test_perturbations_are_not_confused(outer: Any, inner: Any) -> None:
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    assert outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0
    assert outer(lambda x: x * inner(lambda y: y * y * y)(x))(2.0) == 36.0
    assert outer(lambda x: inner(lambda y: x)(1.0) + x)(5.0) == 1.0


@pytest.mark.parametrize("inner", [grad, forward])
@pytest.mark.parametrize("outer", [grad, forward])
def test_memory_written_inside_is_not_confused(outer: Any, inner: Any) -> None:
    def f(x):
        buffer = np.zeros(2)
        buffer[0] = x

        def g(y):
            buffer[1] = y * buffer[0]
            return np.sum(buffer**2)

        return inner(g)(3.0)  # 2 y x^2

    assert outer(f)(2.0) == pytest.approx(24.0, rel=1e-14)


# Value, gradient and product in one.


SHARED = np.array([1.0, 2.0, 3.0])


def in_parts(p: Any) -> Any:
    p["x"][1:] *= p["x"][:-1] + p["s"]
    return np.sum(p["x"] ** 3) * p["s"] ** 2


HVPS: dict[str, Any] = {
    "number": (lambda x: x**3, 2.0, 0.5),
    "array": (lambda x: np.sum(x**3) * x[0], np.array([0.5, -1.0]), np.array([1.0, -2.0])),
    "zero direction": (lambda x: np.sum(np.exp(x)), np.array([0.5, -1.0]), np.zeros(2)),
    "linear": (lambda x: np.sum(x) * 2, np.array([0.5, -1.0]), np.ones(2)),
    "constant": (lambda x: 1.0, np.array([0.5, -1.0]), np.ones(2)),
    "library": (
        lambda a: np.sum(np.linalg.inv(a) ** 2), np.array([[2.0, 1.0], [0.5, 3.0]]),
        np.array([[1.0, 2.0], [3.0, 4.0]]),
    ),
    "complex": (
        lambda z: np.sum(np.abs(z) ** 4 + z.real**3), np.array([1.0 + 2.0j, 0.5j]),
        np.array([1.0 - 1.0j, 2.0]),
    ),
    "parts": (
        in_parts, {"x": np.array([1.0, 2.0, 3.0]), "s": 2.0},
        {"x": np.array([1.0, -1.0, 0.5]), "s": 1},
    ),
    "none in parts": (
        in_parts, {"x": np.array([1.0, 2.0, 3.0]), "s": 2.0}, {"x": np.ones(3), "s": None},
    ),
    "shared parts": (
        lambda p: np.sum(p[0] ** 2 * p[1]), [SHARED, SHARED[::-1]], [np.ones(3), np.ones(3)],
    ),
}  # fmt: skip


def flat(value: Any) -> Any:
    """Return all numbers in a gradient."""
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list, tuple)):
        return np.concatenate([flat(part) for part in parts])
    return np.atleast_1d(np.asarray(value))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", HVPS.values(), ids=HVPS)
def test_value_gradient_and_product(case: Any) -> None:
    f, x, v = case
    before = flat(x).copy()
    value, gradient, product = value_and_hvp(f, (x,), v)
    assert value == value_and_grad(f)(x)[0]
    expected = grad(f)(x)
    assert type(gradient) is type(expected)
    assert_allclose(flat(gradient), flat(expected), rtol=1e-12)
    np.testing.assert_array_equal(flat(product), flat(hvp(f, (x,), v)))
    np.testing.assert_array_equal(flat(x), before)
    with debug_mode():
        again = value_and_hvp(f, (x,), v)
    assert_allclose(flat(again[1]), flat(expected), rtol=1e-12)
    assert_allclose(flat(again[2]), flat(product), rtol=1e-12)


def test_value_gradient_and_product_of_chosen_arguments() -> None:
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    f = lambda x, n, y: np.sum(x**n * y)  # noqa: E731
    value, (dx, dy), (px, py) = value_and_hvp(f, (x, 3, y), (x, y), argnums=(0, 2))
    assert value == f(x, 3, y)
    assert_allclose([dx, dy], [3 * x**2 * y, x**3])
    assert_allclose([px, py], [6 * x * y * x + 3 * x**2 * y, 3 * x**2 * x])
    with pytest.raises(NonScalarOutputError):
        value_and_hvp(lambda x: x, (x,), x)


@pytest.mark.parametrize("outer", [grad, lambda f: grad(f, mode="forward"), jacobian])
def test_derivatives_of_value_gradient_and_product(outer: Any) -> None:
    x = np.array([0.5, -1.0, 2.0])

    def f(z: Any) -> Any:
        return np.sum(z**4) * z[0]

    def together(x: Any) -> Any:
        value, gradient, product = value_and_hvp(f, (x,), x * 2)
        return value + np.sum(gradient**2) + np.sum(np.sin(product))

    def apart(x: Any) -> Any:
        return f(x) + np.sum(grad(f)(x) ** 2) + np.sum(np.sin(hvp(f, (x,), x * 2)))

    assert_allclose(outer(together)(x), grad(apart)(x), rtol=1e-10)


@pytest.mark.parametrize("product", [hvp, value_and_hvp])
def test_arguments_of_products_are_a_tuple(product: Any) -> None:
    with pytest.raises(InvalidTangentError, match=f"{product.__name__} takes a tuple of arguments"):
        product(lambda x: np.sum(x**3), np.ones(2), np.ones(2))


@pytest.mark.parametrize("product", [hvp, value_and_hvp])
def test_a_vector_for_each_argument_needs_argnums(product: Any) -> None:
    def scaled(x: np.ndarray, a: float) -> Any:
        return a * np.sum(x**2)

    x, v = np.array([1.0, 2.0]), np.ones(2)
    with pytest.raises(InvalidTangentError, match="v is a tuple of 2, but argnums=0") as caught:
        product(scaled, (x, 3.0), (v, 1.0))
    assert "argnums=(0, 1)" in caught.value.fix
    with pytest.raises(InvalidTangentError, match="but argnums='a'"):
        product(scaled, (x, 3.0), (v, 1.0), "a")
    np.testing.assert_allclose(hvp(scaled, (x, 3.0), (1.0, 0.0)), [6.0, 0.0])  # a tuple as array
