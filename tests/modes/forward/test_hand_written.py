"""Handwritten rules for one mode: forward rules alone to all orders, reverse rules on constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    Dual,
    MissingRuleError,
    NoFData,
    NoRData,
    NoTangent,
    checkpoint,
    debug_mode,
    frule,
    grad,
    hessian,
    hvp,
    jvp,
    local_rules,
    rrule,
    value_and_hvp,
)

pytestmark = pytest.mark.without_modes("handwritten rules, each run in the modes that it is about")

X, V = np.array([0.7, 1.3, -0.4]), np.array([0.4, -1.1, 0.9])
NONE = NoTangent()


@pytest.fixture(autouse=True)
def block() -> Iterator[None]:
    """Keep the rules of these tests among themselves."""
    with local_rules():
        yield


def along(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the derivative of a function along V, or along 1 for numbers."""
    return lambda x: jvp(f, (x,), (V if np.ndim(x) else 1.0,))[1]


# Forward rules, for functions of one number or array that are x * x, whatever their result.


def square(x: Any) -> Any:
    return x * x


def in_a_list(x: Any) -> Any:
    return [x * x, 3]


def in_a_dict(x: Any) -> Any:
    return {"a": (x * x,)}


def in_place(x: Any) -> None:
    x *= x


def squared_in_place(x: Any) -> Any:
    if not np.ndim(x):
        return x * x
    y = x * 1.0
    in_place(y)
    return y


def of_square(_: Any, x: Dual) -> Dual:
    return Dual(square(x.primal), 2 * x.primal * x.tangent)


def of_list(_: Any, x: Dual) -> Dual:
    return Dual([x.primal * x.primal, 3], [2 * x.primal * x.tangent, NONE])


def of_dict(_: Any, x: Dual) -> Dual:
    return Dual({"a": (x.primal * x.primal,)}, {"a": (2 * x.primal * x.tangent,)})


def of_in_place(_: Any, x: Dual) -> Dual:
    x.tangent[...] = 2 * x.primal * x.tangent
    x.primal[...] *= x.primal
    return Dual(None, NONE)


RULES: dict[str, tuple[Any, Any, Callable[[Any], Any]]] = {
    "number": (square, of_square, lambda x: square(x)),
    "list": (in_a_list, of_list, lambda x: in_a_list(x)[0]),
    "dict": (in_a_dict, of_dict, lambda x: in_a_dict(x)["a"][0]),
    "in place": (in_place, of_in_place, squared_in_place),
}


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), X], ids=["float", "float64", "array"])
@pytest.mark.parametrize("name", RULES)
def test_forward_rule_alone_has_derivatives_of_all_orders(name: str, x: Any) -> None:
    function, rule, run = RULES[name]
    frule.register(function, mutates=0 if name == "in place" else ())(rule)
    f = lambda x: np.sum(run(x) * x)  # noqa: E731
    v = V if np.ndim(x) else 1.0
    slope, second, third = 3 * np.sum(x**2 * v), 6 * x * v, 6 * np.sum(v**3)
    np.testing.assert_allclose(along(f)(x), slope)
    np.testing.assert_allclose(hvp(f, (x,), v), second)
    np.testing.assert_allclose(value_and_hvp(f, (x,), v)[2], second)
    np.testing.assert_allclose(grad(along(f))(x), second)
    np.testing.assert_allclose(grad(along(f), debug=True)(x), second)
    np.testing.assert_allclose(hvp(lambda x: checkpoint(f, x), (x,), v), second)
    np.testing.assert_allclose(hessian(f)(x) @ v if np.ndim(x) else hessian(f)(x), second)
    np.testing.assert_allclose(along(along(f))(x), np.sum(second * v))
    np.testing.assert_allclose(along(along(along(f)))(x), third)
    np.testing.assert_allclose(np.sum(grad(along(along(f)))(x) * v), third)


@pytest.mark.plain  # debug mode undoes what the rule changes
@pytest.mark.parametrize("name", RULES)
def test_forward_rule_runs_in_forward_mode(name: str) -> None:
    function, rule, run = RULES[name]
    calls = []

    @frule.register(function, mutates=0 if name == "in place" else ())
    def counted(f: Any, x: Any) -> Any:
        calls.append(1)
        return rule(f, x)

    np.testing.assert_allclose(along(lambda x: np.sum(run(x)))(X), 2 * np.sum(X * V))
    assert calls == [1]


# Reverse rules on constants.


def double(x: np.ndarray) -> float:
    x *= 2.0
    return float(x[0])


def with_rule_of_double() -> None:
    @rrule.register(double, mutates=0)
    def rule(_: Any, x: Any) -> Any:
        x.primal[...] *= 2.0

        def pullback(dy: float) -> Any:
            x.fdata[0] += dy
            x.primal[...] /= 2.0
            x.fdata[...] *= 2.0
            return NoRData(), NoRData()

        return CoDual(float(x.primal[0]), NoFData()), pullback


WEIGHTS = np.ones(3)
HELD = {"w": [np.ones(3)]}


def of_new(x: np.ndarray) -> Any:
    c = np.ones(3)
    double(c)
    return np.sum(x**3 * c)


def of_global(x: np.ndarray) -> Any:
    return double(WEIGHTS) * np.sum(x**3)


def of_held(x: np.ndarray) -> Any:
    double(HELD["w"][0][:2])
    double(HELD["w"][0][2:])
    return np.sum(x**3 * HELD["w"][0])


def of_what_the_tape_holds(x: np.ndarray) -> Any:
    y = x**3 * WEIGHTS
    double(WEIGHTS)
    return np.sum(y) * WEIGHTS[1]


@pytest.mark.parametrize("f", [of_new, of_global, of_held, of_what_the_tape_holds])
def test_reverse_rule_alone_runs_on_constants_in_forward_mode(f: Any) -> None:
    with_rule_of_double()
    slope, second = 6 * X**2 @ V, 12 * X * V
    np.testing.assert_allclose(along(f)(X), slope)
    with debug_mode():
        np.testing.assert_allclose(along(f)(X), slope)
    np.testing.assert_allclose(jvp(f, (X,), (V,), compile=True)[1], slope)
    np.testing.assert_allclose(along(lambda x: checkpoint(f, x))(X), slope)
    np.testing.assert_allclose(hvp(f, (X,), V), second)
    np.testing.assert_allclose(hvp(lambda x: checkpoint(f, x), (X,), V), second)
    np.testing.assert_allclose(grad(along(f))(X), second)
    np.testing.assert_allclose(along(along(f))(X), second @ V)
    np.testing.assert_allclose(hessian(f)(X) @ V, second)
    assert WEIGHTS.tolist() == HELD["w"][0].tolist() == [1.0, 1.0, 1.0]


def test_reverse_rule_alone_is_refused_on_active_data() -> None:
    with_rule_of_double()

    def f(x: np.ndarray) -> Any:
        y = x * 1.0
        double(y)
        return np.sum(y)

    with pytest.raises(MissingRuleError, match="for reverse mode only"):
        along(f)(X)
