"""Printed functions mean what the IR means: here as plain Python runs them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.printing.build import interpreted
from mooncake_py.compiler.native.printing.emit import Printer
from mooncake_py.compiler.native.regions import helpers
from tests.compiler.native.ir_text import written

KINDS = {"k": "int", "m": "int", "i": "int", "j": "int", "on": "bool", "c": "int", "w": "bool"}
EMPTY = np.empty(0)


def forward(text: str, inputs: str, results: str, axes: int = 1, **functions: Any) -> Any:
    """Return the forward sweep of a text; arrays have these many axes."""
    arrays = dict.fromkeys("xyzcw", axes)
    printer = Printer(KINDS, arrays)
    printer.forward(written(text, KINDS, functions), inputs.split(), results.split())
    return interpreted(printer)["forward"]


SWEEP = """
y = new(len(x, 0), len(x, 1))
for i, j in all(len(x, 0), len(x, 1)):
    y[i, j] = x[i, j] * a
for i, j in all(len(x, 0), len(x, 1)):
    push(y[i, j])
k = 0
for m in range(1, len(x, 0)):
    check(m < 5)
    if x[m, 0] > 0.5:
        push(True)
        k = k + 1
    else:
        push(False)
for i in all(len(x, 0)):
    s += np.exp(y[i, k])
"""
BACK = """
for m in range(len(x, 0) - 1, 0, -1):
    if pop():
        d_a += 1.0
for i, j in all(len(x, 0), len(x, 1)):
    y[i, j] = pop()
for i, j in all(len(x, 0), len(x, 1)):
    d_x[i, j] += d_y[i, j] * a
"""
SIZES = """
for i, j in all(len(x, 0), len(x, 1)):
    push(0.0)
for m in range(1, len(x, 0)):
    push(True)
"""


@pytest.mark.parametrize("counted", [False, True])
def test_sweeps(counted: bool) -> None:
    printer = Printer(KINDS, {"x": 2, "y": 2, "d_x": 2, "d_y": 2})
    if counted:
        printer.count(written(SIZES), ["x", "a"])
    printer.forward(written(SWEEP, KINDS), ["x", "a"], ["s", "k", "y"])
    printer.reverse(written(BACK), ["x", "y", "a", "d_x", "d_y"], ["d_a"])
    made = interpreted(printer)
    x = np.random.default_rng(0).random((5, 6))
    ok, S, p, s, k, y = made["forward"](EMPTY, x, 2.0)
    assert ok
    assert p == 34
    assert S.size == (34 if counted else 60)
    assert k == (x[1:, 0] > 0.5).sum()
    assert s == sum(np.exp(y[:, k]))
    assert np.array_equal(y, 2 * x)
    d_x, d_y = np.ones((5, 6)), np.full((5, 6), 3.0)
    y[...] = 0.0
    assert made["reverse"](S, p, x, y, 2.0, d_x, d_y) == (float(k),)
    assert np.array_equal(y, 2 * x)
    assert np.array_equal(d_x, np.full((5, 6), 7.0))
    ok, _, p, s, k, y = made["forward"](S, np.ones((7, 6)), 2.0)
    assert (ok, p, s, k, y.shape) == (False, 0, 0.0, 0, (0, 0))


# For each what is computed, and the function of two floats that it is.
EXPRESSIONS: dict[str, Callable[[float, float], Any]] = {
    "a - (b - 1.0)": lambda a, b: a - (b - 1.0),
    "a / (b * 2.0)": lambda a, b: a / (b * 2.0),
    "-(a ** 2.0) + (-a) ** 2": lambda a, b: 0.0,
    "a ** -1 + 2.0 * (a + 1.0) ** -2": lambda a, b: 1 / a + 2.0 / (a + 1.0) ** 2,
    "a ** round(b) * np.power(a, -1)": lambda a, b: a ** round(b) / a,
    "float(a < b) + float(round(a))": lambda a, b: float(a < b) + float(round(a)),
    "2 ** -1 / b ** -1": lambda a, b: 0.5 * b,
    "2 ** (a ** 2)": lambda a, b: 2 ** (a**2),
    "(2.0 * a if a < b else b) + 1.0": lambda a, b: (2.0 * a if a < b else b) + 1.0,
    "a // b + a % b": lambda a, b: a // b + a % b,
    "min(a, b, 0.5) - max(a, b)": lambda a, b: min(a, b, 0.5) - max(a, b),
    "float(round(2.5) + round(3.5) + int(-1.5))": lambda a, b: 5.0,
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


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize(("a", "b"), [(0.25, 1.5), (-1.25, -0.5), (3.5, 2.0)])
def test_expressions(text: str, a: float, b: float) -> None:
    f = forward(f"s = {text}", "a b", "s", rule=rule)
    value = f(EMPTY, a, b)[-1]
    assert value == EXPRESSIONS[text](a, b)
    assert isinstance(value, float)


def test_numbers_are_of_the_kind_of_what_they_are_stored_in() -> None:
    f = forward("s = 1\nk = True\non = 2\nx[0] = k\nc[0] = on", "x c", "s k on")
    x, c = np.zeros(1), np.zeros(1, int)
    _, _, _, s, k, on = f(EMPTY, x, c)
    assert (type(s), type(k), type(on)) == (float, int, bool)
    assert x[0] == c[0] == 1


def test_ints_that_are_saved_come_back_as_ints() -> None:
    printer = Printer(KINDS, {"x": 1})
    printer.forward(written("k = 5\npush(k)\npush(x[k - 3])\npush(k > 3)"), ["x"], ["k"])
    back = "on = pop()\ns = pop() - pop()\nif on:\n    d_s += s"
    printer.reverse(written(back, KINDS), ["x"], ["on", "d_s"])
    made = interpreted(printer)
    _, S, p, _ = made["forward"](EMPTY, np.array([0.0, 0.0, 0.5]))
    assert p == 3
    assert made["reverse"](S, p, EMPTY) == (True, -4.5)


def test_several_numbers_in_a_pass_are_taken_from_the_last() -> None:
    printer = Printer(KINDS, {"x": 1, "y": 1})
    loop = "for i in all(len(x, 0)):\n    "
    printer.forward(written(f"{loop}push(x[i]); push(y[i])"), ["x", "y"], [])
    printer.reverse(written(f"{loop}y[i] = pop(); x[i] = pop()"), ["x", "y"], [])
    made = interpreted(printer)
    x, y = np.arange(3.0), 10 + np.arange(3.0)
    _, S, p = made["forward"](EMPTY, x, y)
    assert list(S[:p]) == [0, 10, 1, 11, 2, 12]
    u, v = np.zeros(3), np.zeros(3)
    assert made["reverse"](S, p, u, v) == ()
    assert np.array_equal(u, x)
    assert np.array_equal(v, y)


PUSHES = """
push(a)
if a > 0.0:
    push(1.0)
    push(2.0)
else:
    push(3.0)
for m in range(3):
    push(x[m])
    if x[m] > a:
        push(4.0)
        for k in range(m):
            push(5.0)
        push(6.0)
    else:
        push(7.0)
    push(8.0)
push(9.0)
for m in range(2):
    s += x[m]
push(10.0)
"""


@pytest.mark.parametrize("a", [1.0, -1.0, 0.5])
def test_there_is_room_for_what_is_saved_between_loops(
    monkeypatch: pytest.MonkeyPatch, a: float
) -> None:
    def grown(S: np.ndarray, size: int) -> np.ndarray:
        return np.append(S, np.zeros(size - S.size))  # no more than is asked for

    monkeypatch.setattr(helpers, "grow", grown)
    printer = Printer(KINDS, {"x": 1})
    printer.forward(written(PUSHES, KINDS), ["x", "a"], ["s"])
    x = np.array([0.0, 0.75, 2.0])
    _, S, p, s = interpreted(printer)["forward"](EMPTY, x, a)
    expected = [a, 1.0, 2.0] if a > 0.0 else [a, 3.0]
    for m in range(3):
        inner = [4.0, *[5.0] * m, 6.0] if x[m] > a else [7.0]
        expected += [x[m], *inner, 8.0]
    assert list(S[:p]) == [*expected, 9.0, 10.0]
    assert s == 0.75
    assert printer.text.count("grow(") == 8  # of 12 that save


def test_loops() -> None:
    text = """
k = 0
while k < 10:
    k += 3
    if x[k] > 0.5:
        break
for m in range(k, 0, -2):
    x[m] += s
    if m < 3:
        s = x[0] * m
"""
    x = np.arange(12.0) / 11
    ok, _, _, k, s = forward(text, "x", "k s")(EMPTY, x)
    assert (ok, k, s) == (True, 6, 0.0)


def test_names_that_are_ours() -> None:
    printer = Printer({}, {"S": 1})
    body = written("np = S[0] + p\nU = np * 2.0\nn0_S = U + len(S, 0)\nlambda_ = n0_S")
    printer.forward(body, ["S", "p"], ["np", "U", "n0_S"])
    made = interpreted(printer)
    assert made["forward"](EMPTY, np.ones(3), 2.0)[3:] == (3.0, 6.0, 9.0)


def test_a_negative_index_is_an_error_here() -> None:
    with pytest.raises((IndexError, OverflowError)):
        forward("s = x[k - 3]", "x k", "s")(EMPTY, np.zeros(5), 2)


@pytest.mark.parametrize(
    "text",
    [
        "while pop() > 0.0:\n    s = 1.0",
        "for i in all(3):\n    push(s)\n    s = pop()",
        "for i in all(3):\n    for j in all(2):\n        push(s)",
    ],
)
def test_what_cannot_be_printed(text: str) -> None:
    with pytest.raises(TypeError):
        forward(text, "s", "s")


def test_checks_leave_at_one_place_and_once() -> None:
    text = """
check(len(x, 0) > 1)
check(x[0] > 0.0)
for m in range(2):
    check(len(x, 0) > 1)
    check(x[0] > 0.0)
    y = new(m + 1)
    check(len(y, 0) < 3)
    x[0] = x[0] - a
    check(x[0] > 0.0)
for k in range(2):
    y = new(2 * k + 1)
    check(len(y, 0) < 3)
"""
    printer = Printer(KINDS, {"x": 1, "y": 1})
    printer.forward(written(text), ["x", "a"], [])
    assert printer.text.count("if not") == 5
    f = interpreted(printer)["forward"]
    assert not f(EMPTY, np.ones(2), 0.0)[0]
    printer = Printer(KINDS, {"x": 1, "y": 1})
    printer.forward(written(text[: text.index("for k")]), ["x", "a"], [])
    f = interpreted(printer)["forward"]
    assert f(EMPTY, np.ones(2), 0.25)[0]
    assert not f(EMPTY, np.ones(1), 0.25)[0]
    assert not f(EMPTY, np.zeros(2), 0.25)[0]
    assert not f(EMPTY, np.ones(2), 0.5)[0]


def test_what_was_checked_in_a_branch_is_checked_after_it() -> None:
    check = "check(len(x, 0) > 2)\n"
    printer = Printer(KINDS, {"x": 1})
    printer.forward(written(f"if a > 0.0:\n    {check}{check}{check}"), ["x", "a"], [])
    assert printer.text.count("if not") == 2
    assert not interpreted(printer)["forward"](EMPTY, np.ones(2), -1.0)[0]


def test_nothing_is_counted_where_nothing_is_saved() -> None:
    printer = Printer(KINDS, {"x": 1})
    printer.count(written("for m in range(3):\n    k = m", KINDS), ["x"])
    assert not printer.functions
