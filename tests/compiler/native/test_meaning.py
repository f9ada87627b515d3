"""What statements and expressions mean: interpreted, and compiled, they do the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.form import Compiler
from tests.compiler.native.writing import written
from tests.support.interpreted import PLAIN, QUICKLY

KINDS = {"k": "int", "m": "int", "i": "int", "j": "int", "on": "bool", "c": "int", "w": "bool"}
EMPTY = np.empty(0)


@pytest.fixture(params=[PLAIN, QUICKLY], ids=["interpreted", "compiled"])
def way(request: pytest.FixtureRequest) -> Compiler:
    """Return a compiler of functions."""
    if request.param is QUICKLY:
        pytest.importorskip("llvmlite")
    return request.param


def forward(
    way: Compiler, text: str, inputs: str, results: str, axes: int = 1, **functions: Any
) -> Any:
    """Return the forward sweep of a text; arrays have these many axes."""
    printer = way.printer(KINDS, dict.fromkeys("xyzcw", axes))
    printer.forward(written(text, KINDS, functions), inputs.split(), results.split())
    return way.built(printer)["forward"]


# For each what is computed, and the function of two floats that it is.
EXPRESSIONS: dict[str, Callable[[float, float], Any]] = {
    "a - (b - 1.0)": lambda a, b: a - (b - 1.0),
    "a / (b * 2.0)": lambda a, b: a / (b * 2.0),
    "-(a ** 2.0) + (-a) ** 2": lambda a, b: 0.0,
    "a ** -1 + 2.0 * (a + 1.0) ** -2": lambda a, b: 1 / a + 2.0 / (a + 1.0) ** 2,
    "a ** int(b) * np.power(a, -1)": lambda a, b: a ** int(b) / a,
    "float(a < b) + float(int(a))": lambda a, b: float(a < b) + float(int(a)),
    "2 ** -1 / b ** -1": lambda a, b: 0.5 * b,
    "2 ** (a ** 2)": lambda a, b: 2 ** (a**2),
    "(2.0 * a if a < b else b) + 1.0": lambda a, b: (2.0 * a if a < b else b) + 1.0,
    "a // b + a % b": lambda a, b: a // b + a % b,
    "min(a, b, 0.5) - max(a, b)": lambda a, b: min(a, b, 0.5) - max(a, b),
    "float(int(2.5) + int(-1.5))": lambda a, b: 1.0,
    "(a < b) + (a > b) * a - (not a < b)": lambda a, b: (a < b) + (a > b) * a - (not a < b),
    "1.0 if a < b and not (b < 0.0 or a == 2.0) else 0.0": lambda a, b: float(
        a < b and not (b < 0.0 or a == 2.0)
    ),
    "1.0 if 0.0 < a <= b else -1e300 * 1e300": lambda a, b: 1.0 if 0 < a <= b else -math.inf,
    "abs(a - b) + np.tanh(a) + math.erf(b)": lambda a, b: abs(a - b) + np.tanh(a) + math.erf(b),
    "rule(a, b) + math.floor(a) // 2": lambda a, b: a * b + a**2 + math.floor(a) // 2,
}


def rule(x: float, y: float) -> float:
    """Stand for a partial derivative that is a function."""
    return x * y + x**2


def test_expressions(way: Compiler) -> None:
    names = [f"s{k}" for k in range(len(EXPRESSIONS))]
    text = "\n".join(f"{name} = {e}" for name, e in zip(names, EXPRESSIONS, strict=True))
    f = forward(way, text, "a b", " ".join(names), rule=rule)
    for a, b in ((0.25, 1.5), (-1.25, -0.5), (3.5, 2.0)):
        found = f(EMPTY, a, b)[3:]
        for value, e in zip(found, EXPRESSIONS, strict=True):
            assert value == pytest.approx(EXPRESSIONS[e](a, b), rel=4e-16, abs=0.0), (e, a, b)
            assert isinstance(value, float)


def test_numbers_are_of_the_kind_of_what_they_are_stored_in(way: Compiler) -> None:
    f = forward(way, "s = 1\nk = True\non = 2\nx[0] = k\nc[0] = on", "x c", "s k on")
    x, c = np.zeros(1), np.zeros(1, int)
    _, _, _, s, k, on = f(EMPTY, x, c)
    assert (type(s), type(k), type(on)) == (float, int, bool)
    assert x[0] == c[0] == 1


def test_ints_that_are_saved_come_back_as_ints(way: Compiler) -> None:
    printer = way.printer(KINDS, {"x": 1})
    printer.forward(written("k = 5\npush(k)\npush(x[k - 3])\npush(k > 3)"), ["x"], ["k"])
    back = "on = pop()\ns = pop() - pop()\nif on:\n    d_s += s"
    printer.reverse(written(back, KINDS), ["x"], ["on", "d_s"])
    made = way.built(printer)
    _, S, p, _ = made["forward"](EMPTY, np.array([0.0, 0.0, 0.5]))
    assert p == 3
    assert made["reverse"](S, p, EMPTY) == (True, -4.5)


def test_several_numbers_in_a_pass_are_taken_from_the_last(way: Compiler) -> None:
    printer = way.printer(KINDS, {"x": 1, "y": 1})
    loop = "for i in all(len(x)):\n    "
    printer.forward(written(f"{loop}push(x[i]); push(y[i])"), ["x", "y"], [])
    printer.reverse(written(f"{loop}y[i] = pop(); x[i] = pop()"), ["x", "y"], [])
    made = way.built(printer)
    x, y = np.arange(3.0), 10 + np.arange(3.0)
    _, S, p = made["forward"](EMPTY, x, y)
    assert list(S[:p]) == [0, 10, 1, 11, 2, 12]
    u, v = np.zeros(3), np.zeros(3)
    assert made["reverse"](S, p, u, v) == ()
    assert np.array_equal(u, x)
    assert np.array_equal(v, y)


def test_checks_leave_at_one_place_and_once(way: Compiler) -> None:
    text = """
assert len(x) > 1
assert x[0] > 0.0
for m in range(2):
    assert len(x) > 1
    assert x[0] > 0.0
    y = empty(m + 1)
    assert len(y) < 3
    x[0] = x[0] - a
    assert x[0] > 0.0
for k in range(2):
    y = empty(2 * k + 1)
    assert len(y) < 3
"""
    printer = way.printer(KINDS, {"x": 1, "y": 1})
    printer.forward(written(text), ["x", "a"], [])
    f = way.built(printer)["forward"]
    assert not f(EMPTY, np.ones(2), 0.0)[0]
    printer = way.printer(KINDS, {"x": 1, "y": 1})
    printer.forward(written(text[: text.index("for k")]), ["x", "a"], [])
    f = way.built(printer)["forward"]
    assert f(EMPTY, np.ones(2), 0.25)[0]
    assert not f(EMPTY, np.ones(1), 0.25)[0]
    assert not f(EMPTY, np.zeros(2), 0.25)[0]
    assert not f(EMPTY, np.ones(2), 0.5)[0]


def test_what_was_checked_in_a_branch_is_checked_after_it(way: Compiler) -> None:
    check = "assert len(x) > 2\n"
    printer = way.printer(KINDS, {"x": 1})
    printer.forward(written(f"if a > 0.0:\n    {check}{check}{check}"), ["x", "a"], [])
    assert not way.built(printer)["forward"](EMPTY, np.ones(2), -1.0)[0]


def test_nothing_is_counted_where_nothing_is_saved(way: Compiler) -> None:
    printer = way.printer(KINDS, {"x": 1})
    printer.count(written("for m in range(3):\n    k = m", KINDS), ["x"])
    assert not printer.functions
