"""Declarations of invalid rules, and rules with invalid results."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    InvalidRuleError,
    InvalidTangentError,
    bilinear,
    elementwise,
    from_vjp,
    frule,
    grad,
    jvp,
    linear,
    overlay,
    rrule,
    zero_derivative,
)

X = np.array([1.0, 2.0, 3.0])


def new() -> Any:
    def doubled(x: Any) -> Any:
        return np.asarray(x) * 2.0

    return doubled


def rule(x: Any) -> Any:
    return x * 2.0, lambda dy: (dy * 2.0,)


NO_FUNCTION: Any = [None, 3, "np.sin", [np.sin]]
DECLARATIONS = {
    "elementwise": lambda f: elementwise(f, 2.0),
    "linear": lambda f: linear(f)(lambda dy, x: dy),
    "bilinear": lambda f: bilinear(f, left=np.multiply, right=np.multiply),
    "from_vjp": lambda f: from_vjp(f)(rule),
    "overlay": lambda f: overlay(f)(np.sin),
    "zero_derivative": lambda f: zero_derivative(f),
    "rrule": lambda f: rrule.register(f)(rule),
    "frule": lambda f: frule.register(f)(rule),
}


@pytest.mark.parametrize("name", DECLARATIONS)
@pytest.mark.parametrize("f", NO_FUNCTION)
def test_rules_are_for_functions(name: str, f: Any) -> None:
    with pytest.raises(InvalidRuleError, match=r"^a rule is declared for an? ") as raised:
        DECLARATIONS[name](f)
    assert raised.value.where is not None
    assert raised.value.where.file == __file__


@pytest.mark.parametrize("declare", [from_vjp, linear, overlay, zero_derivative, rrule.register])
def test_rules_are_for_some_function(declare: Any) -> None:
    with pytest.raises(InvalidRuleError, match="for no function"):
        declare()


@pytest.mark.parametrize("given", [None, 3, X])
@pytest.mark.parametrize(
    "declare",
    [
        lambda f, given: from_vjp(f)(given),
        lambda f, given: from_vjp(f, jvp=3 if given is None else given)(rule),
        lambda f, given: linear(f)(given),
        lambda f, given: bilinear(f, left=given, right=np.multiply),
        lambda f, given: bilinear(f, left=np.multiply, right=given),
        lambda f, given: overlay(f)(given),
        lambda f, given: rrule.register(f)(given),
    ],
)
def test_rules_are_functions(declare: Any, given: Any) -> None:
    with pytest.raises(InvalidRuleError, match=r"doubled is an? .*, not a function"):
        declare(new(), given)


def test_decorator_without_function() -> None:
    @from_vjp
    def doubled(x: Any) -> Any:
        return x * 2.0, lambda dy: (dy * 2.0,)

    with pytest.raises(InvalidRuleError, match=r"@from_vjp\(f\) above the rule"):
        grad(lambda x: np.sum(doubled(x)))(X)


@pytest.mark.parametrize(
    ("partials", "message"),
    [
        ((), "no partial derivatives"),
        (("2",), "a str as partial derivative 0"),
        (([2.0],), "a list as partial derivative 0"),
        ((True,), "a bool as partial derivative 0"),
        ((lambda x: 2.0,), "0 that does not take 2 arguments"),
        ((2.0, lambda x, y: 2.0), "1 that does not take 3 arguments"),
        (((2.0, 1.0), (1.0,)), "not as many outputs"),
        (((2.0, 1.0), 1.0), "no tuple of outputs for input 1"),
    ],
)
def test_partials(partials: Any, message: str) -> None:
    with pytest.raises(InvalidRuleError, match=f"doubled by elementwise has .*{message}"):
        elementwise(new(), *partials)


def test_partials_of_outputs_for_a_function_with_one() -> None:
    f = new()
    elementwise(f, (2.0,))
    for derivative in (grad(lambda x: np.sum(f(x))), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(
            InvalidRuleError, match="for 1 output in a tuple, and it returned an nd"
        ):
            derivative(X)


@pytest.mark.parametrize("wrt", ["x", -1, (0, 1.0), None])
def test_positions(wrt: Any) -> None:
    with pytest.raises(InvalidRuleError, match="pass positions"):
        linear(new(), wrt=wrt)


@pytest.mark.plain  # debug mode checks rules itself
@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda x: x, "an ndarray"),
        (lambda x: None, "None"),
        (lambda x: (x,), "1 values"),
        (lambda x: (x, None), "ndarray, NoneType"),
        (lambda x: (x, rule, 3), "3 values"),
    ],
)
def test_results_of_rules(returned: Any, message: str) -> None:
    f = new()
    from_vjp(f)(returned)
    nested = grad(lambda x: jvp(lambda v: np.sum(f(v)), (x,), (x,))[1])
    for derivative in (grad(lambda x: np.sum(f(x))), lambda x: jvp(f, (x,), (x,)), nested):
        with pytest.raises(InvalidRuleError, match=f"no output with its pullback, but .*{message}"):
            derivative(X)


def test_shapes_in_forward_mode() -> None:
    f, g, h = new(), new(), new()
    from_vjp(f)(lambda x: (x * 2.0, lambda dy: (dy[:2],)))
    from_vjp(g, jvp=lambda tangents, y, x: np.ones(9))(rule)
    with pytest.raises(
        InvalidTangentError, match=r"\(2,\) does not fit an argument of shape \(3,\)"
    ):
        jvp(f, (X,), (X,))
    with pytest.raises(InvalidTangentError, match=r"\(9,\) does not fit an output of shape \(3,\)"):
        jvp(g, (X,), (X,))
    from_vjp(h)(lambda x: (x * 2.0, lambda dy: (np.stack([dy, dy]),)))  # spread over more axes
    np.testing.assert_allclose(jvp(h, (X,), (X,))[1], 2.0 * X)
