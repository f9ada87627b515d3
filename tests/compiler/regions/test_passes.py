"""Small passes: simplification, operations with names, domains, evaluation, printing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py.compiler.derivatives.domains import domain, domain_check, on_floats
from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.regions.evaluate import evaluated
from mooncake_py.compiler.regions.ir import (
    Assign,
    Bump,
    Call,
    Check,
    Compare,
    Const,
    Finite,
    Length,
    Let,
    Load,
    Name,
    Op,
    Select,
)
from mooncake_py.compiler.regions.simplify import (
    added,
    folded,
    inlined,
    negated,
    product,
    simplified,
)
from mooncake_py.compiler.regions.steps import Names, Steps

A, B, C = Name("a"), Name("b"), Name("c")
ONE, ZERO = Const(1.0), Const(0.0)
X = Load("x", (Name("i"),))
CHOICE = Select(Compare(("lt",), (A, B)), ONE, ZERO)


def test_numbers_that_are_written_differently_differ():
    assert Const(1) != Const(1.0) != Const(True)
    assert Const(0.0) != Const(-0.0)
    assert Const(math.nan) == Const(math.nan)
    assert len({Const(1), Const(1.0), Const(1)}) == 2


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (added(A, ZERO), A), (added(ZERO, A), A), (added(A, negated(B)), Op("sub", (A, B))),
        (added(ONE, ONE), Const(2.0)),
        (product(A, ONE), A), (product(Const(1), A), A), (product(A, Const(-1.0)), negated(A)),
        (product(negated(A), B), negated(Op("mul", (A, B)))),
        (product(negated(A), negated(B)), Op("mul", (B, A))),
        (product(A, Op("truediv", (Const(1), B))), Op("truediv", (A, B))),
        (product(A, CHOICE), Select(CHOICE.test, A, ZERO)),
        (product(Select(CHOICE.test, ZERO, ONE), A), Select(CHOICE.test, ZERO, A)),
        (product(A, ZERO), Op("mul", (A, ZERO))),  # nan, if a is not finite
        (product(Const(2.0), Const(3)), Const(6.0)),
        (negated(negated(A)), A), (negated(Const(2)), Const(-2)),
        (simplified(Op("pow", (A, Const(1)))), A),
        (simplified(Op("mul", (Op("pow", (A, Const(1))), ONE))), A),
        (simplified(Select(A, B, B)), B),
        (folded("mul", Const(10**400), Const(2.0)), Op("mul", (Const(10**400), Const(2.0)))),
    ],
)  # fmt: skip
def test_simplification(found, expected):
    assert found == expected


def test_names_that_are_read_once_are_not_bound():
    block = (
        Let("v", X), Let("w", Op("mul", (Name("v"), A))), Let("q", Op("add", (Name("w"), B))),
        Let("unused", C), Finite(Name("q")), Assign(X, Name("q")),
    )  # fmt: skip
    total = Op("add", (Op("mul", (X, A)), B))
    expected = (Let("q", total), Finite(Name("q")), Assign(X, Name("q")))
    assert inlined(block, {"v", "w", "q", "unused"}) == expected
    assert inlined(block, set()) == block


def test_targets_and_indices_keep_the_names_that_they_read():
    block = (Let("v", A), Bump(Load("x", (Name("v"),)), B))
    assert inlined(block, {"v"})[0] == block[0]


def test_operations_have_names_equal_ones_the_same():
    steps = Steps(Names("v"), None)
    e = Op("add", (Op("mul", (X, X)), Op("neg", (Op("mul", (X, X)),))))
    assert steps.of(e) == Name("v3")
    assert steps.lets == [
        Let("v0", X),
        Let("v1", Op("mul", (Name("v0"), Name("v0")))),
        Let("v2", Op("neg", (Name("v1"),))),
        Let("v3", Op("add", (Name("v1"), Name("v2")))),
    ]
    assert steps.of(Const(2.0)) == Const(2.0)
    assert steps.of(A) == A


def test_operations_within_choices():
    steps = Steps(Names("v"), None)
    test = Op("or", (Compare(("lt",), (X, ONE)), A))
    assert steps.of(Select(test, Op("neg", (X,)), B)) == Name("v2")
    assert steps.lets[-1].value == Select(
        Op("or", (Compare(("lt",), (Name("v0"), ONE)), A)), Name("v1"), B
    )


@pytest.mark.parametrize(
    ("f", "inside", "outside"),
    [
        (np.log, (0.5,), (0.0,)),
        (np.arcsin, (0.0,), (1.0,)),
        (np.exp, (-1.0,), (710.0,)),
        (np.divide, (1.0, -2.0), (1.0, 0.0)),
        (np.power, (0.5, -2.0), (-0.5, 2.0)),
        (np.maximum, (1.0, 2.0), (1.0, math.nan)),
    ],
)
def test_domains(f, inside, outside):
    emitter = Emitter()
    text = emitter.text(domain(f))
    for values, served in ((inside, True), (outside, False)):
        scope = emitter.scope | {f"a{k}": v for k, v in enumerate(values)}
        assert eval(text, dict(scope)) is served


def test_calls_of_numpy_are_checked_and_floats():
    call = Call(np.sqrt, (A,))
    assert domain_check(call) == Check(Compare(("lt", "lt"), (Const(0), A, Const(math.inf))))
    assert on_floats(call) == Op("float", (call,))
    sine = Call(math.sin, (A,))
    assert domain_check(sine) is None
    assert on_floats(sine) == sine


def test_evaluation():
    x = np.zeros((3, 4))
    e = Op("range", (Op("sub", (Length("x", 1), Const(1))), Op("neg", (Name("k"),)), Const(-2)))
    assert evaluated(e, {"x": x, "k": 5}) == range(3, -5, -2)
    assert evaluated(Op("int", (Op("abs", (Const(-2.5),)),)), {}) == 2
    for wrong in (Load("x", (Const(0),)), Name("q")):
        with pytest.raises(LookupError):
            evaluated(wrong, {"x": x})


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (Op("sub", (A, Op("sub", (B, C)))), "a - (b - c)"),
        (Op("pow", (Const(-2), Const(3))), "(-2) ** 3"),
        (Op("neg", (Op("neg", (A,)),)), "-(-a)"),
        (Op("not", (Compare(("le", "ne"), (A, B, C)),)), "not (a <= b != c)"),
        (Const(math.inf), "inf"), (Const(-math.inf), "-inf"), (Const(1e400), "inf"),
        (Const(True), "True"), (Const(None), "None"),
    ],
)  # fmt: skip
def test_printing(e, text):
    assert Emitter().text(e) == text


def test_functions_of_one_name_are_told_apart():
    emitter = Emitter()
    text = emitter.text(Op("add", (Call(np.sin, (A,)), Call(math.sin, (A,)))))
    assert eval(text, {**emitter.scope, "a": 0.5}) == np.sin(0.5) + math.sin(0.5)
    other = type(math.sin)  # anything that is called sin
    assert emitter.name_of(math.sin) != emitter.name_of(np.sin) != emitter.name_of(other)
