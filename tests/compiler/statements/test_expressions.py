"""Fused expressions against the general way, operation by operation, and against differences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from mooncake_py.compiler.statements.read import read_expression
from mooncake_py.modes.reverse.context import ReverseContext


def floats(a, b):
    for _ in range(3):
        a -= 0.1 * math.sin(b) / (a + 2.0)
        b = b + 0.01 * a * b - a / 3
    return a * a + b * b * a


def many_floats(a, b):
    c = a * b
    return a * b + c * a - b / c + 2 * (a - c)


def repeated_operand(a, b):
    return a * a * a - b * (a * a + b)


def elements(x):
    a, b = x[0], x[1]
    return a * b + math.exp(a) / b - a * 2


def arrays(x, w):
    y = np.sin(x) * w + x * x * 0.5
    z = y - w / (x + 3.0) * y
    return np.sum(z * z - y * w)


def constant_array(x, w):
    w = w.copy()
    y = np.cos(x) * w - w * 2.0
    w[...] = 7.0  # the adjoint of y needs the values before this
    return np.sum(y * x * w)


def changed_operand(x, w):
    x = x.copy()
    y = x * x * w + x
    x *= 2.0
    y += x * w * x
    x[1:] = 0.0
    return np.sum(y * y + x * y)


def augmented_array(x, w):
    y = x.copy()
    alias = y
    y += 0.5 * np.sin(w) * y
    y -= w * w
    return np.sum(alias * y * w)


def broadcast(x, w):
    column = w[:, None]
    y = x * column + x * 0.5
    return np.sum(y * y + column * 2.0)


def mixed(x, w):
    s = x[0] * w[1] - x[1]
    y = s * x * w + s
    return np.sum(y * s * y)


def views(x, w):
    y = np.zeros((2, 4))
    row = y[1]
    row += x * w + x
    top = y[0]
    top[...] = row * x - 2 * row
    return np.sum(y * y * 0.5)


def items(x, w):
    total = 0.0
    for i in range(1, 3):
        x[i] = (x[i] - w[i] * x[i + 1]) / (w[i - 1] + 3.0)
        total += x[i] * x[i - 1] - w[i]
    x[1:-1] += 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])
    y = total * x[::-1] * w + x[0] * w[::2].sum() - total
    return np.sum(y * x) + total


def numbers_and_arrays(x, w):
    a, b = x[0], w[1]
    y = a * b * x - w / (b + 4.0) + a
    z = np.exp(a * y) * 0.1 + y * b / (x * x + 1.0) - a / (y * y + 2.0)
    return np.sum(z) + np.sum(y * w)


def matrices(x, w):
    m = x * w[:, None]
    c = x[1] * m[1:, :2] - 2 * m[:-1, 2:] * m[1:, 1:3] / x[0]
    m[1:, :2] *= c
    return np.sum(m * m - 0.5 * m)


PROGRAMS = {
    floats: (0.7, 0.4),
    many_floats: (0.7, 0.4),
    repeated_operand: (1.3, -0.4),
    elements: (np.array([0.3, 1.7]),),
    **dict.fromkeys(
        (
            arrays, constant_array, changed_operand, augmented_array, broadcast, mixed, views,
            items, numbers_and_arrays, matrices,
        ),
        (np.array([0.3, -1.2, 0.8, 2.0]), np.array([1.1, 0.2, -0.7, 0.4])),
    ),
}  # fmt: skip


def gradient(f: Callable[..., Any], args: tuple[Any, ...], argnums: tuple[int, ...]) -> Any:
    return value_and_grad(f, argnums)(*args)


def differences(f: Callable[..., Any], args: tuple[Any, ...], k: int) -> Any:
    x = np.array(args[k])
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        values = []
        for h in (1e-6, -1e-6):
            moved = x.copy()
            moved[i] += h
            copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
            copies[k] = moved if moved.ndim else float(moved)
            values.append(f(*copies))
        g[i] = (values[0] - values[1]) / 2e-6
    return g


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_fused_equals_general_and_differences(f, monkeypatch):
    args = PROGRAMS[f]
    argnums = tuple(range(len(args)))
    before = [np.array(a) for a in args]
    value, fused = gradient(f, args, argnums)
    again = gradient(f, args, argnums)[1]
    monkeypatch.setattr(ReverseContext, "fuses", False)
    reference, general = gradient(f, args, argnums)
    assert value == reference
    for k, (a, b, c) in enumerate(zip(fused, general, again, strict=True)):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-13, atol=1e-13)
        assert_allclose(c, a, rtol=0, atol=0)
        assert_allclose(a, differences(f, args, k), rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(args[k], before[k])


@pytest.mark.parametrize("argnums", [(0,), (1,), (0, 1)])
def test_each_pattern_of_activity(argnums, monkeypatch):
    args = PROGRAMS[arrays]
    fused = gradient(arrays, args, argnums)[1]
    monkeypatch.setattr(ReverseContext, "fuses", False)
    general = gradient(arrays, args, argnums)[1]
    for a, b in zip(fused, general, strict=True):
        assert_allclose(a, b, rtol=1e-13)


def test_one_entry_records_a_float_expression():
    ctx = ReverseContext()
    from mooncake_py.runtime.active import active_number

    a, b = active_number(0.7, ctx), active_number(0.4, ctx)
    ctx.call(many_floats_body, a, b)
    assert len(ctx.tape) == 1


def many_floats_body(a, b):
    return a * b + a - b / a


def test_zero_cotangent_stays_zero_where_a_factor_is_not_finite():
    def f(x):
        y = np.sqrt(x) * x + x
        return np.sum(y[1:])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, g = value_and_grad(f)(np.array([0.0, 1.0, 4.0]))
        _, h = value_and_grad(f)(np.array([-1.0, 1.0, 4.0]))
    assert_allclose(g, [0.0, 2.5, 4.0])
    assert_allclose(h, [0.0, 2.5, 4.0])


def test_infinite_slope_of_a_float_takes_the_general_way():
    assert value_and_grad(lambda a: math.sqrt(a) * 2 + a)(0.0) == (0.0, math.inf)
    assert value_and_grad(lambda a, b: b * math.sqrt(a) * 0.0 + b)(0.0, 2.0) == (2.0, 0.0)


def test_errors_of_the_expression_are_the_users():
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        value_and_grad(lambda a, b: a / b + a * b)(1.0, 0.0)
    with pytest.raises(ValueError, match="could not be broadcast"):
        value_and_grad(lambda a, b: np.sum(a * b + a))(np.ones(2), np.ones(3))
    with pytest.raises(TypeError, match="unsupported operand"):
        value_and_grad(lambda a, b: a * 2 + b)(1.0, "x")


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.longdouble])
def test_other_dtypes_take_the_general_way(dtype):
    x = np.array([0.5, 2.0], dtype)

    def f(x):
        return np.sum(np.abs(np.sin(x) * x + x * 0.5) ** 2)

    _, g = value_and_grad(f)(x)
    assert g.dtype == dtype
    exact = np.sin(x) * x + 0.5 * x
    slope = np.cos(x) * x + np.sin(x) + 0.5
    assert_allclose(g, 2 * exact * np.conj(slope), rtol=1e-5)


def test_the_same_line_serves_floats_and_arrays():
    def f(x, y):
        return x * y + x / y - 2 * x

    def loss(x, y):
        return f(x, y) + np.sum(f(np.array([x, x]), y)) + f(x, 2)

    _, (dx, dy) = value_and_grad(loss, (0, 1))(1.5, 0.5)
    assert_allclose(dx, 3 * (0.5 + 2 - 2) + 0.5)
    assert_allclose(dy, 3 * (1.5 - 1.5 / 0.25))


def test_operators_of_user_types_run_once_and_in_order():
    class Loud:
        def __init__(self, value, calls):
            self.value = value
            self.calls = calls

        def __mul__(self, other):
            self.calls.append("mul")
            return Loud(self.value * getattr(other, "value", other), self.calls)

        def __add__(self, other):
            self.calls.append("add")
            return Loud(self.value + getattr(other, "value", other), self.calls)

        def __getitem__(self, i):
            self.calls.append(i)
            return Loud(self.value * i, self.calls)

    def f(x):
        calls = []
        a = Loud(x, calls)
        b = a * a + a
        c = a[2] * a[3] + a[4]
        return b.value + c.value, tuple(calls)

    assert value_and_grad(f, has_aux=True)(3.0) == (
        (12.0 + 66.0, ("mul", "add", 2, 3, "mul", 4, "add")),
        7.0 + 40.0,
    )


def test_collecting_leaves_out_what_may_have_effects():
    import ast

    from mooncake_py.syntax.names import Names

    names = Names({"np": np}, {"x", "y"})

    def parts(text):
        return read_expression(ast.parse(text, mode="eval").body, names)

    assert parts("f(x) * x + 1") is None
    assert parts("x.a * y + x") is None
    assert parts("x ** y + y") is None
    assert parts("x ** -1 + y")[0].of_numbers
    assert parts("x ** -1 * (a * y + x)") is None  # of arrays that would have parts
    assert parts("np.prod(x) * y + 1") is None
    assert parts("x[f(y)] * y + x") is None
    assert parts("np.clip(x, y, 1) * x + y") is None
    found = parts("np.sin(x) * y ** 3 + 2")
    assert found is not None
    assert found[0].statement(found[1], frozenset()).size == 4
    found = parts("x[1:] * y - x[i - 1]")
    assert found is not None
    assert found[0].statement(found[1], frozenset()).size == 4
