"""Which operand's method an operator runs: as in the plain call, for pairs of many classes."""

from __future__ import annotations

import itertools
import math
import operator
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp, value_and_grad
from tests.support.operator_classes import ACTIVES, OPERANDS, measured, note
from tests.support.pairs import rotating


def iadd(a: Any, b: Any) -> Any:
    before = a
    a += b
    note("same", a is before)
    return a


def imul(a: Any, b: Any) -> Any:
    before = a
    a *= b
    note("same", a is before)
    return a


def itruediv(a: Any, b: Any) -> Any:
    a /= b
    return a


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "**": lambda a, b: a**b, "@": lambda a, b: a @ b,
    "//": lambda a, b: a // b, "&": lambda a, b: a & b,
    "divmod": lambda a, b: divmod(a, b), "pow": lambda a, b: pow(a, b, 3),
    "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b, "+=": iadd, "*=": imul, "/=": itruediv,
    "operator.iadd": lambda a, b: operator.iadd(a, b),
    "operator.imul": lambda a, b: operator.imul(a, b),
    "operator.gt": lambda a, b: operator.gt(a, b),
    "sum": lambda a, b: sum([a, 1.5, b]), "math.prod": lambda a, b: math.prod([a, b]),
    "max": lambda a, b: max(a, b), "sorted": lambda a, b: sorted([a, b])[0],
    "math.hypot": lambda a, b: math.hypot(a, b),
    "by name": lambda a, b: a.__mul__(b), "by name, reflected": lambda a, b: a.__radd__(b),
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {
    "-": lambda a: -a, "+": lambda a: +a, "abs": abs, "~": lambda a: ~a,
    "round": lambda a: round(a), "float": lambda a: float(a), "bool": lambda a: bool(a),
    "a.real": lambda a: a.real, "conjugate": lambda a: a.conjugate(),
}  # fmt: skip
STEP = 1e-6


def outcome(f: Callable[[Any], Any], x: Any) -> tuple[Any, list[Any]]:
    """Return the result or exception of a call, and the methods that have run."""
    calls = sys.__dict__["_calls_of_operators"]
    calls.clear()
    try:
        with np.errstate(all="ignore"):
            return f(np.copy(x) if isinstance(x, np.ndarray) else x), list(calls)
    except Exception as error:
        return error, list(calls)


def difference(f: Any, plain: Any, derivatives: Any, x: Any) -> str:
    """Return the differences between a function and its derivatives; '' if there are none."""
    value, methods = outcome(plain, x)
    for name, derivative in derivatives.items():
        got, seen = outcome(derivative, x)
        if isinstance(got, MooncakeError):
            continue
        if isinstance(value, Exception) or isinstance(got, Exception):
            if is_bound_to_nothing(methods) or isinstance(value, type(got)):
                continue
            if type(value) is not type(got):
                return f"{name}: {got!r}, not {value!r}"
            continue
        if seen != methods:
            return f"{name}: {seen}, not {methods}"
        if not np.array_equal(got[0], value, equal_nan=True):
            return f"{name}: value {got[0]}, not {value}"
        slope = np.sum(got[1])
        up, down = (plain(x + h) for h in (STEP, -STEP))
        if not np.isclose(slope, (up - down) / (2 * STEP), rtol=1e-4, atol=1e-5, equal_nan=True):
            return f"{name}: derivative {slope}, not {(up - down) / (2 * STEP)}"
    return ""


def is_bound_to_nothing(methods: list[Any]) -> bool:
    """Return whether ``y += v`` made `NotImplemented` of `y`, a fault of NumPy: here it raises."""
    return ("result", "NotImplementedType", "", "") in methods


def derivatives_of(f: Any, x: Any, **options: Any) -> dict[str, Any]:
    """Return derivatives of a function, by mode: of the sum over all inputs."""
    ones = np.ones(np.shape(x)) if isinstance(x, np.ndarray) else 1.0
    return {
        "reverse": lambda x: value_and_grad(f, **options)(x),
        "forward": lambda x: jvp(f, (x,), (ones,)),
    }


def is_exact(label: str) -> bool:
    """Return whether differences tell the derivative."""
    return "np.float32" not in label


def pairs(active: str) -> Iterator[tuple[str, Any]]:
    """Yield functions of all operators on an active operand and another, in both orders."""
    make, _ = ACTIVES[active]
    for (other, made), (symbol, run) in itertools.product(OPERANDS.items(), BINARY.items()):
        if symbol in ("//", "divmod") and "complex" in active + other:
            continue  # NumPy 2.4 ends the process for some subclasses of its scalars
        yield (
            f"{active} {symbol} {other}",
            lambda x, made=made, run=run: measured(run(make(x), made())),
        )
        yield (
            f"{other} {symbol} {active}",
            lambda x, made=made, run=run: measured(run(made(), make(x))),
        )
    for symbol, alone in UNARY.items():
        yield f"{symbol} {active}", lambda x, alone=alone: measured(alone(make(x)))


@pytest.mark.parametrize("active", ACTIVES)
def test_operators_run_the_methods_of_the_plain_call(active: str) -> None:
    functions = Random(f"operators of {active}").sample(list(pairs(active)), 60)
    assert found(functions, ACTIVES[active][1]) == []


@pytest.mark.slow
@pytest.mark.parametrize("active", ACTIVES)
def test_all_operators_run_the_methods_of_the_plain_call(active: str) -> None:
    assert found(pairs(active), ACTIVES[active][1]) == []


@pytest.mark.parametrize("options", [{"debug": True}, {"compile": True}], ids=["debug", "compiled"])
def test_operators_run_the_same_methods_in_other_modes(options: Any) -> None:
    for active, (_, x) in ACTIVES.items():
        functions = Random(f"{options} {active}").sample(list(pairs(active)), 12)
        assert found(functions, x, **options) == []


def found(functions: Any, x: Any, **options: Any) -> list[str]:
    """Return the differences for some functions, in words."""
    words = []
    for label, f in filter(lambda pair: is_exact(pair[0]), functions):
        what = difference(f, f, derivatives_of(f, x, **options), x)
        if what:
            words.append(f"{label}: {what}")
    return words


class FloatOfMine(float):
    def __radd__(self, other: Any) -> Any:
        return 7.0 * other

    def __gt__(self, other: Any) -> Any:
        return True


class IntOfMine(int):
    def __rmul__(self, other: Any) -> Any:
        return 9.0 * other


class ScalarOfMine(np.float64):
    def __rmul__(self, other: Any) -> Any:
        note("rmul")
        return 5.0 * other


class WithPriority:
    __array_priority__ = 100.0

    def __radd__(self, other: Any) -> Any:
        return 100.0 * other

    def __gt__(self, other: Any) -> Any:
        return 3.0 * other


class Unknown:
    def __gt__(self, other: Any) -> Any:
        return 3.0 * other


def in_place(x: Any) -> Any:
    y = x * 1.0
    y += WithPriority()
    return np.sum(y**2)


def elements_in_place(x: Any) -> Any:
    y = x * np.ones((2, 2))
    y[0] += WithPriority()
    return np.sum(y)


EXPECTED: list[tuple[Any, Any, Any]] = [
    (lambda x: x[0] + FloatOfMine(2.0), np.array([0.5, 1.0]), [1.0, 0.0]),
    (lambda x: x + FloatOfMine(2.0), 0.5, 7.0),
    (lambda x: x * IntOfMine(2), 0.5, 2.0),
    (lambda x: x if x < FloatOfMine(-5.0) else 3.0 * x, 0.5, 1.0),
    (lambda x: x[0] if x[0] < FloatOfMine(-5.0) else 3.0 * x[0], np.array([0.5, 1.0]), [3.0, 0.0]),
    (lambda x: x[0] < Unknown(), np.array([0.5]), [3.0]),
    (in_place, np.array([0.5, 1.0]), [1e4, 2e4]),
    (elements_in_place, np.array([0.5, 1.0]), [101.0, 101.0]),
    (lambda x: sum([x, FloatOfMine(2.0), 1.0]), 0.5, 7.0),
    (lambda x: math.prod([x, IntOfMine(2)]), 0.5, 2.0),
    (lambda x: x.__mul__(FloatOfMine(2.0)), 0.5, 2.0),
    (lambda x: 2.0 * x if Fraction(1, 2) < x else 3.0 * x, 0.7, 2.0),
    (lambda x: 2.0 * x[0] if x[0] == Fraction(1, 2) else 3.0 * x[0], np.array([0.5]), [2.0]),
    (lambda x: max(x, Fraction(1, 2)) * x, 0.3, 0.5),
    (lambda x: Fraction(1, 2) ** x, 1.0, 0.5 * math.log(0.5)),
    (lambda x: sum([Fraction(1, 2), x * Fraction(3, 2)]), 0.7, 1.5),
    (lambda x: float.__radd__(FloatOfMine(2.0), x), 0.5, 1.0),
]


@pytest.mark.parametrize(
    ("f", "x", "expected", "options"),
    [
        (*given, options)
        for given, options in rotating(
            EXPECTED, [{}, {"debug": True}, {"compile": True}, {"mode": "forward"}], times=2
        )
    ],
)
def test_methods_that_run(f: Any, x: Any, expected: Any, options: Any) -> None:
    np.testing.assert_allclose(grad(f, **options)(x), expected, rtol=1e-12)


def test_debug_mode_asks_a_scalar_once() -> None:
    calls = sys.__dict__["_calls_of_operators"]
    calls.clear()
    assert grad(lambda x: x * ScalarOfMine(2.0), debug=True)(0.5) == 5.0
    assert calls == [("rmul",)]
