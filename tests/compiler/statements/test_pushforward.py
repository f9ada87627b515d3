"""Tangents of expressions as IR: over operands v0, v1, ... and their tangents d0, d1, ..."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import jvp, value_and_hvp
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.regions.ir import substituted
from mooncake_py.compiler.regions.steps import Names, Steps
from mooncake_py.compiler.statements.pushforward import tangent_of
from tests.compiler.statements.cores import core_of, text_of


def tangent(text: str, *moving: int, careful: bool = False) -> str:
    """Return the tangent of an expression whose operands are numbered as they are read."""
    core = core_of(text)
    steps = Steps(Names("e"), None)
    root = tangent_of(core, moving, steps, careful)
    values: dict = {}
    for let in steps.lets:
        values[let.name] = substituted(let.value, values)
    return "None" if root is None else text_of(substituted(root, values))


@pytest.mark.parametrize(
    ("text", "moving", "expected"),
    [
        ("a * b", (0, 1), "d0 * v1 + d1 * v0"),
        ("a * b", (1,), "d1 * v0"),
        ("a - b", (0, 1), "d0 - d1"),
        ("a - b", (1,), "-d1"),
        ("a / b", (0, 1), "d0 / v1 - t0 * (d1 / v1)"),
        ("-a", (0,), "-d0"),
        ("2.0 * a + 1.0", (0,), "d0 * 2.0"),
        ("np.sin(a) * b", (0,), "d0 * np_cos(v0) * v1"),
        ("a @ b", (0, 1), "(d0 @ v1) + (v0 @ d1)"),
        ("np.outer(a, b)", (1,), "f_outer(v0, d1)"),
        ("np.sum(-a)", (0,), "-f_sum(d0)"),
        ("np.sum(a * b)", (1,), "f_sum(d1 * v0)"),
    ],
)
def test_tangents(text, moving, expected):
    assert tangent(text, *moving) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a * b", "f_pushed(d0, v1) + f_pushed(d1, v0)"),
        ("a * 2.0 - b", "d0 * 2.0 - d1"),
        ("-a * b", "f_pushed(d1, t0) - f_pushed(d0, v1)"),
    ],
)
def test_careful_tangents(text, expected):
    assert tangent(text, 0, 1, careful=True) == expected


@pytest.mark.parametrize("text", ["int(a) * 2", "b + 1.0", "int(a + 1.0) + b"])
def test_what_does_not_move_has_no_tangent(text):
    assert tangent(text, *([0] if "(a" in text else [])) == "None"


@pytest.mark.parametrize("text", ["np.sum(a - b)", "np.sum(-(a + b) * 2.0) * a", "np.sum(a + b)"])
def test_sums_of_what_is_broadcast_are_left_to_the_general_way(text):
    with pytest.raises(NoPartial):
        tangent(text, 1)


@pytest.mark.parametrize("text", ["np.sum(a - b)", "np.sum((a - b) ** 2)", "np.sum(a * b)"])
def test_sums_have_tangents_of_their_shape(text):
    assert "f_sum(" in tangent(text, *((0, 1) if text == "np.sum(a - b)" else (1,)))


def test_a_number_is_added_to_each_element_that_is_summed():
    x = np.array([1.0, 2.0, 4.0])

    def f(a):
        return np.sum(x - a) + np.sum(x[:, None] + (x * a))

    value, t = jvp(f, (0.5,), (1.0,))
    assert value == f(0.5)
    assert_allclose(t, -3.0 + 3.0 * np.sum(x))


def test_what_does_not_fit_is_said_of_the_value():
    def f(x, y):
        return np.sum(x * np.sin(y[:0]) - x)

    x = np.ones(3)
    with pytest.raises(ValueError, match=r"shapes \(3,\) \(0,\)"):
        value_and_hvp(f, (x, x), x, 1)


@pytest.mark.parametrize("a", [np.inf, -np.inf, np.nan])
def test_zeros_of_tangents_are_exact_beside_numbers_that_are_not_finite(a):
    def f(x):
        y = a * x[1:]
        x[1:] -= a * x[:-1]
        return y, x

    with np.errstate(all="ignore"):
        _, (dy, dx) = jvp(f, (np.array([1.0, 2.0, 3.0]),), (np.array([0.0, 0.0, 1.0]),))
    assert_allclose(dy, [0.0, a])
    assert_allclose(dx, [0.0, 0.0, 1.0])


def test_zeros_of_tangents_are_exact_over_zero():
    zero = 0.0

    def f(x):
        return x[1:] / zero

    with np.errstate(all="ignore"):
        _, dy = jvp(f, (np.array([1.0, 2.0, 3.0]),), (np.array([0.0, 0.0, 1.0]),))
    assert_allclose(dy, [0.0, np.inf])


def test_elements_and_slices_are_changed_in_place():
    def f(x, y):
        x[0] += x[1] * y[0]
        x[:2] -= y[1:]
        x[..., 2] += y[2]
        y += x
        return y

    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 2.0])
    value, t = jvp(f, (x, y), (np.array([1.0, 1.0, 0.0]), np.array([0.0, 2.0, 1.0])))
    assert_allclose(value, f(x.copy(), y.copy()))
    assert_allclose(t, [0.5 + 1.0 - 2.0, 1.0 - 1.0 + 2.0, 1.0 + 1.0])
    assert_allclose(x, [1.0, 2.0, 3.0])
