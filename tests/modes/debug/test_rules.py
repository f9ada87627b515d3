"""Debug mode finds each way in which a rule can break its contract."""

from __future__ import annotations

import math
import random
import re
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    NoRData,
    bilinear,
    debug_mode,
    elementwise,
    from_vjp,
    grad,
    increment,
    linear,
    rrule,
    zero_codual,
)
from mooncake_py.errors import InvalidRuleError
from mooncake_py.modes.debug.checked import checked
from mooncake_py.rules import registry
from tests.support.pairs import rotating
from tests.support.plain_results import restored

X = np.array([0.5, -1.0, 2.0])


def new_function(body: Callable[..., Any]) -> Any:
    """Return a function of its own that computes what `body` does, to register a rule for."""

    def double(*args):
        return body(*args)

    return double


def derivative(f: Any, *args: Any, debug: bool = True) -> Any:
    def loss(x):
        y = f(x, *args)
        return np.sum(y)

    return grad(loss, debug=debug)(X.copy())


def message_of(f: Any, *args: Any) -> str:
    with pytest.raises(InvalidRuleError) as caught:
        derivative(f, *args)
    error = caught.value
    assert isinstance(error, TypeError)
    assert error.where is not None
    assert error.where.function.endswith("derivative.<locals>.loss")
    assert re.search(r"\| y = f\(x, \*args\)\n +\| +\^", str(error))
    assert "test_rules.py:" in error.why, "where the rule is declared"
    return str(error)


# Hand-written rules: what the pullback returns.


def codual_rule(rdata: Callable[..., Any], args: int = 1) -> Any:
    """Return a function with a rule that is right except for the rdata."""
    f = new_function(lambda x, *more: x * 2.0)

    @rrule.register(f, mutates=())
    def rule(_, x, *more):
        out = zero_codual(x.primal * 2.0)

        def pullback(_):
            increment(x, 2.0 * out.fdata)
            return rdata()

        return out, pullback

    return f


def test_right_rule_passes() -> None:
    f = codual_rule(lambda: (NoRData(), NoRData()))
    np.testing.assert_array_equal(derivative(f), [2.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("rdata", "text"),
    [
        (lambda: [NoRData(), NoRData()], "returned no tuple of rdata"),
        (lambda: None, "returned no tuple of rdata"),
        (lambda: (NoRData(),), r"wrong number of rdata(.|\n)*expected: 2\n +got: +1"),
        (lambda: (NoRData(), NoRData(), NoRData()), "wrong number of rdata"),
        (lambda: (NoRData(), 1.0), r"rdata for argument 0 that do not fit(.|\n)*NoRData\(\)"),
        (lambda: (1.0, NoRData()), "rdata for the function that do not fit"),
        (lambda: (NoRData(), X), "rdata for argument 0 that do not fit"),
    ],
)
def test_wrong_rdata(rdata: Any, text: str) -> None:
    assert re.search(text, message_of(codual_rule(rdata)))


@pytest.mark.parametrize("wrong", [np.float32(1.0), 1, X, 1j, NoRData()])
def test_rdata_of_a_number_of_another_type(wrong: Any) -> None:
    f = codual_rule(lambda: (NoRData(), NoRData(), wrong))
    assert "rdata for argument 1 that do not fit" in message_of(f, 3.0)


# Hand-written rules: the output.


def output_rule(make: Callable[[CoDual], Any]) -> Any:
    """Return a function with a rule whose forward pass returns what `make` says."""
    f = new_function(lambda x: x * 2.0)

    @rrule.register(f, mutates=())
    def rule(_, x):
        return make(x)

    return f


def no_pullback(_: Any) -> Any:
    return NoRData(), NoRData()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: zero_codual(x.primal * 2), "did not return a pair"),
        (lambda x: [zero_codual(x.primal * 2), no_pullback], "did not return a pair"),
        (lambda x: (x.primal * 2, no_pullback), "did not return a CoDual"),
        (lambda x: (zero_codual(x.primal * 2), None), "did not return a pullback"),
        (lambda x: (CoDual(x.primal * 2, np.zeros(2)), no_pullback), "fdata that do not fit"),
        (lambda x: (CoDual(x.primal * 2, np.zeros(3, np.float32)), no_pullback),
         r"expected: ndarray of float64(.|\n)*got: +ndarray of float32"),
        (lambda x: (CoDual(x.primal * 2, NoFData()), no_pullback), "fdata that do not fit"),
        (lambda x: (CoDual(x.primal * 2, np.ones(3)), no_pullback), "fdata that are not zero"),
        (lambda x: (CoDual(x.primal * 2, x.fdata), no_pullback),
         "the fdata of an argument with a new output"),
        (lambda x: (CoDual(x.primal[1:], np.zeros(2)), no_pullback), "the same view"),
        (lambda x: (CoDual(x.primal[1:], x.fdata[:2]), no_pullback), "the same view"),
    ],
)  # fmt: skip
def test_wrong_output(make: Any, text: str) -> None:
    assert re.search(text, message_of(output_rule(make)))


# Hand-written rules: memory.


def memory_rule(forward: Any, backward: Any, mutates: tuple[int, ...] | None = None) -> Any:
    """Return ``x *= 2`` with a rule that does more than it may."""

    def double(x):
        x *= 2
        return 1.0 * x

    @rrule.register(double, mutates=mutates)
    def rule(_, x):
        forward(x)
        out = zero_codual(1.0 * x.primal)

        def pullback(_):
            backward(x)
            increment(x, 2.0 * out.fdata)
            return NoRData(), NoRData()

        return out, pullback

    return double


def scale(factor: float) -> Any:
    def run(x):
        x.primal[...] *= factor

    return run


def poison(x: CoDual) -> None:
    x.fdata[0] += 1.0


def nothing(x: CoDual) -> None:
    pass


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ((scale(2), scale(0.5), ()), r"wrote into argument 0, which it does not declare"),
        ((scale(2), scale(0.5), (1,)), r"mutates=\(1, 0\)"),
        ((scale(2), nothing), r"did not restore argument 0(.|\n)*0\.5 at \[0\](.|\n)*got: +1\.0"),
        ((scale(2), scale(0.5000001)), "did not restore argument 0"),
        ((poison, nothing), "changed the fdata of argument 0 on the forward pass"),
    ],
)
def test_wrong_memory(rule: Any, text: str) -> None:
    assert re.search(text, message_of(memory_rule(*rule)))


def test_a_new_array_in_the_fdata_of_a_list() -> None:
    f = new_function(lambda x: 2 * x[0])

    @rrule.register(f, mutates=())
    def rule(_, x):
        out = zero_codual(2 * x.primal[0])

        def pullback(_):
            x.fdata[0] = x.fdata[0] + 2 * out.fdata
            return NoRData(), NoRData()

        return out, pullback

    with pytest.raises(InvalidRuleError, match="put a new array into the fdata of argument 0"):
        grad(lambda x: np.sum(f([x, x + 1])), debug=True)(X)
    assert not np.any(grad(lambda x: np.sum(f([x, x + 1])))(X)), "silently wrong without debug"


# Declared rules.


def declared_vjp(result: Callable[[Any, Any], Any]) -> Any:
    f = new_function(lambda x, *more: 2.0 * x)

    @from_vjp(f)
    def rule(x, *more):
        return 2.0 * x, lambda dy: result(x, dy)

    return f


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (lambda x, dy: (), "wrong number of cotangents"),
        (lambda x, dy: (2 * dy, 0 * dy), "wrong number of cotangents"),
        (lambda x, dy: [2 * dy], "returned no tuple of cotangents"),
        (lambda x, dy: ([*dy],), "a number or an array"),
        (lambda x, dy: (np.ones(2),), r"shape \(3,\)(.|\n)*float64\[2\]"),
        (lambda x, dy: (1.0,), r"shape \(3,\)"),
        (lambda x, dy: (np.float32(2) * dy.astype(np.float32),), "float32"),
        (lambda x, dy: (lambda: np.ones(4),), r"shape \(3,\)"),
        (lambda x, dy: ("2",), "a number or an array"),
    ],
)
def test_wrong_cotangent(result: Any, text: str) -> None:
    rule_of = declared_vjp(result)
    with pytest.raises(InvalidRuleError, match=text):
        grad(lambda x: np.sum(rule_of(x)), debug=True)(X)


def test_rule_without_a_pullback() -> None:
    f = new_function(lambda x: 2.0 * x)
    from_vjp(f)(lambda x: 2.0 * x)
    assert "did not return an output and a pullback" in message_of(f)


@pytest.mark.parametrize(
    ("adjoint", "text"),
    [
        (lambda dy, x: np.ones(2), r"shape \(3,\)"),
        (lambda dy, x: (dy, dy), "wrong number of cotangents"),
        (lambda dy, x: dy.astype(np.float32), "8 bytes for each real number"),
    ],
)
def test_wrong_adjoint_of_a_linear_map(adjoint: Any, text: str) -> None:
    f = new_function(lambda x: 2.0 * x)
    linear(f)(adjoint)
    assert re.search(text, message_of(f))


def test_wrong_adjoint_of_a_bilinear_map() -> None:
    f = new_function(lambda a, b: a * b)
    bilinear(f, left=lambda dy, a, b: np.ones((2, 2)), right=lambda dy, a, b: dy * a)
    assert "cotangent for argument 0 that does not fit" in message_of(f, X)


@pytest.mark.parametrize(
    ("partial", "text"),
    [
        (lambda x, y: np.ones((2, 3)) + 0 * x, r"shape \(3,\)(.|\n)*float64\[2, 3\]"),
        (lambda x, y: x[:2], r"shape \(3,\)"),
        (lambda x, y: x.astype(np.float32), "8 bytes"),
        (lambda x, y: None, "a number or an array"),
        (lambda x, y: [1.0, 2.0, 3.0], "a number or an array"),
    ],
)
def test_wrong_partial_derivative(partial: Any, text: str) -> None:
    f = new_function(lambda x: 2.0 * x)
    elementwise(f, partial)
    assert re.search(text, message_of(f))


def test_context_manager_reaches_the_rules_called_by_rrule() -> None:
    f = codual_rule(lambda: (NoRData(),))
    with debug_mode(), pytest.raises(InvalidRuleError, match="wrong number of rdata"):
        grad(lambda x: np.sum(f(x)))(X)


def test_fdata_that_do_not_fit_a_derived_rule() -> None:
    def f(x):
        return x * x

    with debug_mode(), pytest.raises(InvalidRuleError, match="called with fdata that do not fit"):
        rrule(CoDual(f, NoFData()), CoDual(X, np.zeros(2)))


def test_rdata_that_do_not_fit_a_derived_rule() -> None:
    def f(x, s):
        return np.sum(x * s)

    with debug_mode():
        out, pullback = rrule(CoDual(f, NoFData()), CoDual(X, np.zeros(3)), CoDual(2.0, NoFData()))
        assert pullback(1.0)[2] == X.sum()
    assert out.primal == 2 * X.sum()


@pytest.mark.parametrize(
    "held", [lambda x: deque([x, x * 2]), lambda x: [x, deque([x])], lambda x: ({"a": x}, x * 2)]
)
def test_outputs_of_a_derived_rule_may_hold_its_argument(held: Any) -> None:
    with debug_mode():
        out, _ = rrule(CoDual(held, NoFData()), CoDual(X, np.zeros(3)))
    assert type(out.primal) is type(held(X))


def test_each_kind_of_rule_is_copied_with_checks() -> None:
    kinds = {type(rule): rule for _, rule in registry.registered()}
    for rule in kinds.values():
        copy = checked(rule)
        assert type(copy) is type(rule)
        assert copy.functions == rule.functions
        assert copy.origin == rule.origin


@pytest.mark.parametrize(
    "f",
    [lambda x: abs(x) * x, lambda x: math.sin(x) * x, lambda x: np.interp(x, [0, 1], [0, 3]) * x],
    ids=["abs", "math.sin", "interp"],
)
def test_numbers_of_higher_precision_may_go_through_functions_of_lower_one(f):
    x, h = np.longdouble(0.75), 1e-5
    with debug_mode():
        gradient = grad(f)(x)
    assert type(gradient) is np.longdouble
    np.testing.assert_allclose(float(gradient), (f(x + h) - f(x - h)) / (2 * h), rtol=1e-8)


# What the program uses later.


def draw(g: Any) -> Any:
    return g * (1.0 + 0.0 * np.random.random())  # noqa: NPY002


def draw_in_python(g: Any) -> Any:
    return g * (1.0 + 0.0 * random.random())


def filter_warnings(g: Any) -> Any:
    warnings.filterwarnings("ignore", f"{len(warnings.filters)}")
    return g * 1.0


def set_error_state(g: Any) -> Any:
    np.seterr(under="warn" if np.geterr()["under"] != "warn" else "ignore")
    return g * 1.0


@pytest.mark.parametrize(
    ("declare", "change"),
    rotating(
        [
            lambda f, change: elementwise(f, lambda x, y: change(2.0 + 0.0 * x)),
            lambda f, change: linear(f)(lambda dy, x: change(2.0 * dy)),
            lambda f, change: from_vjp(f)(lambda x: (2.0 * x, lambda dy: change(2.0 * dy))),
            lambda f, change: from_vjp(f)(
                lambda x: (2.0 * x, lambda dy: (lambda: change(2.0 * dy),))
            ),
            lambda f, change: bilinear(
                f, left=lambda dy, a, b: change(dy * b), right=lambda dy, a, b: change(dy * a)
            ),
        ],
        [draw, draw_in_python, filter_warnings, set_error_state],
        times=2,
    ),
)
@pytest.mark.without_modes("breaks the contract")
def test_state_that_a_rule_changes(declare: Any, change: Any) -> None:
    f = new_function(lambda x, *more: x * 2.0)
    declare(f, change)
    args = (2.0,) if registry.find(f).declaration == "bilinear" else ()
    with warnings.catch_warnings(), np.errstate():
        np.testing.assert_array_equal(derivative(f, *args, debug=False), [2.0, 2.0, 2.0])
        message = message_of(f, *args)
    assert re.search("changed (the filters of warnings|.*geterr|the state of .* global)", message)


def test_rules_that_draw_in_the_forward_pass_only() -> None:
    """So does the function itself."""
    f = new_function(lambda x: x * np.random.random())  # noqa: NPY002

    @from_vjp(f)
    def rule(x):
        factor = np.random.random()  # noqa: NPY002
        return x * factor, lambda dy: (dy * factor,)

    with restored():
        np.random.seed(1)  # noqa: NPY002
        expected = np.random.random() * np.ones(3)  # noqa: NPY002
        np.random.seed(1)  # noqa: NPY002
        np.testing.assert_array_equal(derivative(f), expected)
