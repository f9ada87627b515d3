"""Nested arguments and results of functions of other packages, alike for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.errors import MissingRuleError

X = np.array([0.5, 1.5])


class Package(NamedTuple):
    """Another package: its `tanh`, what makes an array of it, and what makes functions of it."""

    tanh: Callable[..., Any]
    asarray: Callable[..., Any]
    imported: Callable[..., Any]


@pytest.fixture(params=["jax", "torch"])
def package(request: pytest.FixtureRequest) -> Package:
    name: str = request.param
    module = pytest.importorskip("jax.numpy" if name == "jax" else name)
    imported = getattr(pytest.importorskip(f"mooncake_py.integrations.{name}"), f"from_{name}")
    return Package(module.tanh, module.asarray, imported)


class Layer(NamedTuple):
    w: Any
    b: Any


@dataclass
class Opaque:
    w: Any


def network_with(tanh: Callable[..., Any]) -> Callable[..., Any]:
    def network(p, x):
        y = tanh(p["layers"][0].w @ x + p["layers"][0].b) * p["scale"][1] + p["count"]
        return {"y": y, "more": (y[0] * 2.0, [None, 3.0]), "x": x}

    return network


by_numpy = network_with(np.tanh)


def parameters() -> dict[str, Any]:
    layers = [Layer(np.array([[0.1, 0.2], [0.3, -0.4]]), np.array([0.5, 0.25]))]
    return {"scale": (None, 2.0), "layers": layers, "count": 3}


def total(of: Callable[..., Any]) -> Callable[..., Any]:
    def f(p, x):
        p["layers"][0].w[0] *= 2.0
        out = of(p, x * x)
        return np.sum(out["y"] ** 2) * out["more"][0] + out["more"][1][1] * out["x"][1]

    return f


def numbers(g: Any) -> Any:
    if isinstance(g, np.ndarray):
        return g
    return [*g["layers"][0].w.ravel(), *g["layers"][0].b, g["scale"][1]]


def test_arguments_and_results_may_be_nested(package: Package):
    network = package.imported(network_with(package.tanh))
    out, expected = network(parameters(), X), by_numpy(parameters(), X)
    assert list(out) in (list(expected), sorted(expected))
    np.testing.assert_allclose(out["y"], expected["y"])
    assert out["more"] == (pytest.approx(expected["more"][0]), [None, 3.0])
    for argnums in (0, 1):
        y, g = value_and_grad(total(network), argnums)(parameters(), X)
        expected_y, expected_g = value_and_grad(total(by_numpy), argnums)(parameters(), X)
        assert y == pytest.approx(expected_y)
        np.testing.assert_allclose(numbers(g), numbers(expected_g))


def test_forward_mode_of_nested_arguments(package: Package):
    network = package.imported(network_with(package.tanh))
    dp = parameters()
    dp["count"] = None
    dx = np.array([1.0, -2.0])
    found = jvp(total(network), (parameters(), X), (dp, dx))
    expected = jvp(total(by_numpy), (parameters(), X), (dp, dx))
    assert found == pytest.approx(expected)


def test_parts_of_a_tuple_have_their_derivative(package: Package):
    """They had a derivative of zero."""
    product = package.imported(lambda pair: (pair[0] * pair[1]).sum())
    assert grad(product)((X, 2.0))[1] == X.sum()
    assert grad(lambda s: product([X, s]))(2.0) == X.sum()


def test_other_containers_are_refused(package: Package):
    inside = package.imported(lambda o: (o.w * o.w).sum())
    assert inside(Opaque(package.asarray(X))) == X @ X
    with pytest.raises(MissingRuleError, match="no derivative with respect to argument 1"):
        grad(lambda x: inside(Opaque(x)))(X)
