"""Declared partial derivatives as expressions."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

from mooncake_py.compiler.derivatives.partials import (
    NoPartial,
    as_expression,
    declared,
    partials,
    serves,
)
from mooncake_py.compiler.derivatives.trace import Untraceable, trace
from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Name, Op, Select
from mooncake_py.rules.powers import scalar_slope
from mooncake_py.rules.special_functions import difference
from tests.support.pairs import rotating

A, B, Y = Name("a"), Name("b"), Name("y")


def written(e: Expr | None) -> str:
    return "" if e is None else Emitter().text(e)


def helper(x):
    return -math.sin(x) if x > 1.0 else 2.0


def same_sides(a, b):
    if a < b:
        return a
    return a


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda a, b: a * b + 1, "a * b + 1"),
        (lambda a, b: 2 - a / b**2, "2 - a / b ** 2"),
        (lambda a, b: -abs(+a) % b // 3, "(-abs(a)) % b // 3"),
        (lambda a, b: math.hypot(a, b) * math.pi, "f_hypot(a, b) * 3.141592653589793"),
        (lambda a, b: np.cos(a) * np.float64(0.5), "f_cos(a) * 0.5"),
        (lambda a, b: np.greater(a, b), "1.0 if (a > b) else 0.0"),
        (
            lambda a, b: np.where((a > 0) & ~(b < np.abs(a)) | (b > 1), a, np.real(b)),
            "a if (((a > 0) and (not (b < abs(a)))) or (b > 1)) else b",
        ),
        (lambda a, b: 1.0 if a else b.real, "1.0 if (a != 0) else b"),
        (same_sides, "a"),
        (lambda a, b: helper(a) * b, "((-f_sin(a)) * b) if (a > 1.0) else (2.0 * b)"),
        (
            lambda a, b: (a if a < b else b) if a < 1 else 0.5,
            "(a if (a < b) else b) if (a < 1) else 0.5",
        ),
        (lambda a, b: math.isfinite(a), "1.0 if (abs(a) < inf) else 0.0"),
        (lambda a, b: math.sqrt(4.0) * a, "2.0 * a"),
    ],
)
def test_functions_as_expressions(f, text):
    assert written(trace(f, (A, B))) == text


def test_numbers_that_are_known_decide_at_once():
    def f(a, n):
        return 2 * a if n == 2 else n * a ** (n - 1)

    assert written(trace(f, (A, Const(2)))) == "2 * a"
    assert written(trace(f, (A, Const(3)))) == "3 * a ** 2"
    assert isinstance(trace(f, (A, B)), Select)


def many_branches(a):
    total = 0.0
    for k in range(4):
        total = total + (1.0 if a > k else 0.0)
    return total


@pytest.mark.parametrize(
    "f",
    [
        lambda a: round(a), lambda a: {a: 1}[a], lambda a: np.exp2(a), lambda a: "text",
        lambda a: np.add.reduce(a), lambda a: 1 / 0, many_branches,
        lambda a: np.where(a, a, 0.0), lambda a: np.sort(a), lambda a: a & 1, lambda a: [a],
    ],
)  # fmt: skip
def test_what_is_more_than_arithmetic_cannot_be_traced(f):
    with pytest.raises(Untraceable):
        trace(f, (A,))


def test_the_function_itself_is_left_as_it_is():
    before = dict(helper.__globals__)
    trace(helper, (A,))
    assert helper.__globals__ == before
    assert helper(0.5) == 2.0
    assert helper(2.0) == -math.sin(2.0)


def test_a_function_with_a_rule_of_its_own_is_called():
    call = Call(scalar_slope, (A, B))
    assert trace(lambda a, b: scalar_slope(a, b) + 1.0, (A, B)) == Op("add", (call, Const(1.0)))
    assert written(trace(lambda a: scalar_slope(a, 3), (A,))) == "3 * a ** 2"
    assert isinstance(trace(lambda a: scalar_slope(a, 0.5), (A,)), Select)  # infinite or not
    # Its text chooses between a constant and a number, which has another derivative at zero.
    assert trace(lambda a: difference(0.0, a), (A,)) == Call(difference, (Const(0.0), A))
    (_, slope), _ = partials(call, Y)
    assert isinstance(slope, Select)  # its rule: a second derivative in the exponent exists too
    assert not serves(scalar_slope, 2)  # it may be another one on floats


# Partials.


@pytest.mark.parametrize(
    ("e", "texts"),
    [
        (Op("add", (A, B)), ["1.0", "1.0"]),
        (Op("sub", (A, B)), ["1.0", "-1.0"]),
        (Op("mul", (A, B)), ["b", "a"]),
        (Op("truediv", (A, B)), ["1 / b", "(-y) / b"]),
        (Op("neg", (A,)), ["-1.0"]),
        (Op("pow", (A, Const(3))), ["3 * a ** 2"]),
        (Op("abs", (A,)), ["f_copysign(1.0, a) if (y != 0) else 0.0"]),
        (Call(np.sin, (A,)), ["f_cos(a)"]),
        (Call(np.exp, (A,)), ["y"]),
        (Call(math.sqrt, (A,)), ["0.5 / y"]),
        (Call(np.multiply, (A, B)), ["b", "a"]),
        (Call(math.copysign, (A, B)),
         ["(f_copysign(1.0, a) * f_copysign_4(1.0, b)) if (a != 0) else 0.0", ""]),
        (Call(np.minimum, (A, B)), ["0.5 if (b == a) else (1.0 if (b > a) else 0.0)",
                                    "0.5 if (a == b) else (1.0 if (a > b) else 0.0)"]),
        (Select(A, A, B), ["1.0 if a else 0.0", "0.0 if a else 1.0"]),
    ],
)  # fmt: skip
def test_partials(e, texts):
    found = [written(p) for _, p in partials(e, Y)][: len(texts)]
    assert [text.replace("f_copysign_4", "f_copysign") for text in texts] == found


def test_a_partial_that_cannot_be_traced_is_called_with_what_it_reads():
    ((operand, slope),) = partials(Call(math.lgamma, (A,)), Y)
    assert operand == A
    assert isinstance(slope, Call)
    assert slope.args == (A, Const(None))
    assert abs(slope.function(2.0, None) - 0.42278433509846714) < 1e-12


@pytest.mark.parametrize("e", [Op("lshift", (A, B)), Call(math.gcd, (A, B)), Name("a")])
def test_unknown_partials(e):
    with pytest.raises(NoPartial):
        partials(e, Y)


def test_functions_that_are_served():
    assert serves(np.sin, 1)
    assert serves(math.atan2, 2)
    assert serves(np.absolute, 1)
    assert not serves(np.i0, 1)
    assert not serves(np.sin, 2)
    assert not serves(math.floor, 1)
    assert declared(operator.add, 2) == (1, 1)
    assert as_expression(2, (None,)) == Const(2.0)


@pytest.mark.parametrize(
    ("f", "x"),
    rotating(
        [math.fabs, math.tanh, math.asinh, math.erf, math.degrees, math.exp],
        [-1.5, -0.0, 0.0, 0.3, 1.0, 2.5],
        times=2,
    ),
)
def test_traced_partials_have_the_values_of_the_rules(f, x):
    y = f(x)
    (partial,) = declared(f, 1) or ()
    ((_, slope),) = partials(Call(f, (A,)), Y)
    emitter = Emitter()
    assert slope is not None
    found = eval(emitter.text(slope), {**emitter.scope, "a": x, "y": y})
    assert found == (partial(x, y) if callable(partial) else partial)
