"""Gradients of all arguments, the examples of Zygote's manual among them."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    MutableTangent,
    NonDifferentiableArgumentError,
    NoTangent,
    TangentSpec,
    from_vjp,
    gradient,
    pullback,
    register_tangent,
    vjp,
)


def test_numbers() -> None:
    assert gradient(lambda x: 3 * x**2 + 2 * x + 1, 5.0) == (32.0,)
    assert gradient(lambda a, b: a * b, 2.0, 3.0) == (3.0, 2.0)
    assert gradient(lambda x: 3 * x**2 + 2 * x + 1, 0.25) == (3.5,)
    assert gradient(lambda c: abs(c) ** 2, 1 + 2j) == (2 + 4j,)


def test_array() -> None:
    W, x = np.ones((2, 3)), np.array([1.0, 2.0, 3.0])
    (g,) = gradient(lambda W: np.sum(W @ x), W)
    np.testing.assert_array_equal(g, [x, x])


def power(x: float, n: int) -> float:
    r = 1.0
    for _ in range(n):
        r *= x
    return r


def recursive_power(x: float, n: int) -> float:
    return 1.0 if n <= 0 else x * recursive_power(x, n - 1)


@pytest.mark.parametrize("f", [power, recursive_power])
def test_control_flow_and_recursion(f: Any) -> None:
    assert gradient(lambda x: f(x, 3), 5.0) == (75.0,)


def test_dict_that_is_filled() -> None:
    d: dict[str, float] = {}

    def f(x: float) -> float:
        d["x"] = x
        return d["x"] * d["x"]

    assert gradient(f, 5.0) == (10.0,)
    assert d == {}


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)


class PlainPoint:
    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y

    def __add__(self, other: PlainPoint) -> PlainPoint:
        return type(self)(self.x + other.x, self.y + other.y)


class OwnPoint(PlainPoint):
    """One whose gradient is a point as well."""


@register_tangent(OwnPoint)
class OwnPointSpec(TangentSpec):
    mutable = False

    def gradient(self, x: OwnPoint, fields: Any) -> OwnPoint:
        return OwnPoint(**fields)


def distance(p: Any) -> float:
    return math.sqrt(p.x**2 + p.y**2)


@pytest.mark.parametrize(
    ("cls", "of_gradient"), [(Point, Point), (PlainPoint, MutableTangent), (OwnPoint, OwnPoint)]
)
def test_points(cls: Any, of_gradient: type) -> None:
    a, b = cls(1.0, 2.0), cls(3.0, 4.0)
    g, h = gradient(lambda a, b: distance(a + b), a, b)
    assert type(g) is type(h) is of_gradient
    assert (g.x, g.y) == (0.5547001962252291, 0.8320502943378437) == (h.x, h.y)
    (parts,) = gradient(lambda ps: distance(ps[0] + ps[1]), [a, b])
    assert type(parts[1]) is of_gradient
    assert parts[1].x == g.x


@pytest.mark.parametrize("cls", [Point, PlainPoint, OwnPoint])
def test_pullback_of_an_object(cls: Any) -> None:
    y, back = vjp(lambda t: cls(t, t * t), 3.0)
    assert (y.x, y.y) == (3.0, 9.0)
    assert back(cls(1.0, 10.0)) == (61.0,)
    assert back(MutableTangent(x=1.0, y=10.0)) == (61.0,)
    assert back(None) == (0.0,)
    with pytest.raises(TypeError, match=r"something with the parts .x., .y."):
        back(1.0)


class Linear:
    def __init__(self, W: np.ndarray, b: np.ndarray) -> None:
        self.W, self.b = W, b

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.W @ x + self.b


def test_models() -> None:
    W, b, x = np.ones((2, 3)), np.zeros(2), np.array([1.0, 2.0, 3.0])
    (g,) = gradient(lambda w: np.sum(w["W"] @ x + w["b"]), {"W": W, "b": b})
    np.testing.assert_array_equal(g["W"], [x, x])
    np.testing.assert_array_equal(g["b"], [1.0, 1.0])
    (g,) = gradient(lambda m: np.sum(m(x)), Linear(W, b))
    np.testing.assert_array_equal(g.W, [x, x])
    np.testing.assert_array_equal(g.b, [1.0, 1.0])


def test_closures() -> None:
    def line(slope: float) -> Any:
        return lambda x: slope * x

    g, dx = gradient(lambda f, x: f(x), line(2.0), 3.0)
    assert g.slope == 3.0
    assert dx == 2.0


def test_constants_among_the_arguments() -> None:
    def f(x: float, name: str, how: Any, flag: bool, nothing: None) -> float:
        return how(x) if flag and name and nothing is None else x

    assert gradient(f, 2.0, "name", math.exp, True, None) == (math.exp(2.0), *[NoTangent()] * 4)
    total = functools.partial(np.sum, axis=0)
    assert gradient(lambda x, f: f(x), np.ones(2), total)[1] is NoTangent()


@pytest.mark.parametrize("n", [3, np.int64(3), np.arange(3), [1, 2]])
def test_integers_are_not_taken_for_floats(n: Any) -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="with respect to argument 1"):
        gradient(lambda x, n: x, 2.0, n)


def test_nothing_to_differentiate_with_respect_to() -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="nothing to take the gradient"):
        gradient(lambda: 1.0)
    with pytest.raises(NonDifferentiableArgumentError, match="nothing to take the gradient"):
        gradient(lambda s: 1.0, "text")
    with pytest.raises(NonDifferentiableArgumentError, match="it is not a function"):
        gradient(1.0, 2.0)


def test_pullback_is_vjp() -> None:
    y, back = pullback(math.sin, 0.5)
    assert (y, back(1.0)) == (0.479425538604203, (0.8775825618903728,))


def test_custom_adjoint() -> None:
    def mul(a: float, b: float) -> float:
        return a * b

    @from_vjp(mul)
    def mul_with_pullback(a: float, b: float) -> Any:
        return a * b, lambda dy: (10 * dy * b, 10 * dy * a)

    assert gradient(mul, 2.0, 3.0) == (30.0, 20.0)
