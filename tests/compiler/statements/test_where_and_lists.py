"""`where=` with `out=` keeps what it does not compute; lists as operands are read once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad
from tests.support.gradients import check
from tests.support.pairs import rotating

X = np.array([[0.7, -1.3, 2.2, 0.4], [-0.6, 1.9, -2.4, 1.1], [3.1, -0.2, 0.9, -1.7]])
X = 1.01 * X + 0.0137
MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
LIST = [1.5, 2.0, 0.5, 3.0]

# Functions that are piecewise constant, one with pieces, and such with two outputs.

KEEPING: dict[str, Any] = {
    "floor": lambda x, z: np.floor(x, out=z, where=MASK),
    "rint-onto-itself": lambda x, z: np.rint(z, out=z, where=MASK),
    "isfinite": lambda x, z: np.isfinite(x, out=z, where=MASK),
    "greater": lambda x, z: np.greater(x, 0.5, out=z, where=MASK),
    "floor_divide": lambda x, z: np.floor_divide(z, [1.37, 2.11, 0.613, 3.3], z, where=MASK[0]),
    "logical_not": lambda x, z: np.logical_not(x, z, where=MASK[:, :1]),
    "clip": lambda x, z: np.clip(x, -0.5, 1.5, out=z, where=MASK),
    "clip-by-arrays": lambda x, z: np.clip(x, x[0] - 1, 2 * x[1] + 3, z, where=MASK[0]),
    "modf": lambda x, z: np.modf(x, z, np.zeros((3, 4)), where=MASK),
    "modf-one-output": lambda x, z: np.modf(x, out=(z, None), where=MASK),
    "frexp": lambda x, z: np.frexp(x, out=(z, None), where=MASK),
    "divmod": lambda x, z: np.divmod(x, 0.7, out=(np.zeros((3, 4)), z), where=MASK),
    "multiply": lambda x, z: np.multiply(x, z, out=z, where=MASK),
}


@pytest.mark.parametrize("write", KEEPING.values(), ids=KEEPING.keys())
def test_elements_that_where_excludes_keep_their_derivative(write: Any) -> None:
    def program(x: Any) -> Any:
        z = x * x
        write(x, z)
        return np.sum(z * x)

    check(program, X)


def test_where_of_two_outputs_leaves_both() -> None:
    def program(x: Any) -> Any:
        fraction, whole = x * x, 3 * x
        np.modf(2 * x, fraction, whole, where=MASK)
        return np.sum(fraction * x) + np.sum(whole * x)

    check(program, X)


OPERATORS: dict[str, Any] = {
    "add": lambda x, v: x + v,
    "rsub": lambda x, v: v - x,
    "truediv": lambda x, v: x / v,
    "rtruediv": lambda x, v: v / x,
    "pow": lambda x, v: (x * x) ** v,
    "floordiv": lambda x, v: x // v + x,
    "rfloordiv": lambda x, v: v // x + x,
    "mod": lambda x, v: x % v,
    "matmul": lambda x, v: x @ v,
    "rmatmul": lambda x, v: v @ x.T,
    "divide": lambda x, v: np.divide(x, v),
    "arctan2": lambda x, v: np.arctan2(v, x),
}


@pytest.mark.parametrize(("operate", "kind"), rotating(OPERATORS.values(), [list, tuple]))
def test_constant_sequences_as_operands(operate: Any, kind: Any) -> None:
    check(lambda x: np.sum(operate(x, kind(LIST)) * x[0, 0]), X)


@pytest.mark.parametrize("name", ["divide", "power", "multiply", "arctan2"])
def test_list_that_is_changed_after_it_was_an_operand(name: str) -> None:
    def program(x: Any) -> Any:
        v = [1.5, 2.0, 0.5, 3.0]
        y = getattr(np, name)(x * x, v)
        v[0] = 100.0
        v.append(1.0)
        return np.sum(y)

    check(program, X)


def in_place(x: Any) -> Any:
    y = x * x + 1
    y /= LIST
    y[1] **= LIST
    y *= (2.0, 1.0, 0.5, 1.5)
    return np.sum(y * x)


def test_constant_lists_in_place() -> None:
    check(in_place, X)


def test_constant_lists_in_place_in_forward_mode() -> None:
    value, gradient = value_and_grad(in_place)(X)
    assert jvp(in_place, (X,), (np.cos(X),)) == pytest.approx((value, np.sum(gradient * np.cos(X))))


FLOORS: dict[str, Any] = {
    "number": lambda x: np.sum(x // 0.3 * x),
    "reflected": lambda x: np.sum(2.0 // x * x),
    "array": lambda x: np.sum(x // x[0] * x),
    "row": lambda x: np.sum(x // x[:, :1] + x * x),
}


@pytest.mark.parametrize("program", FLOORS.values(), ids=FLOORS.keys())
def test_floor_division_of_arrays(program: Any) -> None:
    check(program, X)


@pytest.mark.parametrize("name", ["floor", "multiply", "cumsum", "argmax", "dot", "take", "round"])
@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_a_number_is_no_output(name: str, mode: str) -> None:
    arguments = {"multiply": 2, "dot": 2, "take": 0}

    def program(x: Any) -> Any:
        y = x[0] * x[1]
        operands = [x] * arguments.get(name, 1) or [x, [0]]
        getattr(np, name)(*operands, out=y)
        return y

    x = np.array([0.7, 1.5])
    said = r"return arrays must be of ArrayType|must be an array"
    with pytest.raises(TypeError, match=said):
        program(x)
    with pytest.raises(TypeError, match=said):
        grad(program)(x) if mode == "grad" else jvp(program, (x,), (x,))
