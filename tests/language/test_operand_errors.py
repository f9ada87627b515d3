"""Errors of operators that do not take their operands are those of the plain call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.runtime.operators import BINARY
from tests.support.pairs import pairwise

NAMES = [name.rstrip("_") for name in BINARY]


class Refusing:
    """Its operators take nothing."""

    def refused(self, other: Any) -> Any:
        return NotImplemented

    __add__ = __radd__ = __iadd__ = __pow__ = __rpow__ = __matmul__ = refused


class Bare:
    """It has no operators."""


def outcome(f: Callable[[], Any]) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:
        f()
    return caught.type, str(caught.value)


def require_same(f: Callable[..., Any], *args: Any) -> None:
    expected = outcome(lambda: f(*args))
    for mode in ("reverse", "forward"):
        assert outcome(lambda mode=mode: grad(f, mode=mode)(*args)) == expected
    assert outcome(lambda: grad(f, debug=True)(*args)) == expected


def add(x, other):
    return other + x


def raise_to(x, other):
    return x**other


def add_in_place(x, other):
    x += other
    return x


def add_to_other(x, other):
    other += x
    return x


def raise_in_place(x, other):
    other **= x
    return x


def subtract_in_a_loop(x, other):
    for _ in range(5):
        x *= 0.9
        other -= 0.1
    return x


def change_an_item(x, other):
    items = [other]
    items[0] += x
    return x


def change_an_element(x, other):
    y = np.array([1.0, 2.0])
    y[0] += other
    return x * y[0]


def change_an_attribute(x, other):
    o = SimpleNamespace(other=other)
    o.other *= x
    return x


@pytest.mark.parametrize(
    ("f", "other", "x"),
    pairwise(
        [
            add,
            raise_to,
            add_in_place,
            add_to_other,
            raise_in_place,
            subtract_in_a_loop,
            change_an_item,
            change_an_element,
            change_an_attribute,
        ],
        [None, Refusing(), Bare(), {}],
        [1.5, np.float64(1.5)],
    ),
)
def test_operands_are_named_as_in_the_plain_call(f, other, x):
    require_same(f, x, other)


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_has_its_symbol(name):
    op = next(op for op in BINARY.values() if op.method == f"__{name}__")
    _, text = outcome(lambda: op.function(Bare(), Bare()))
    assert text.startswith(f"unsupported operand type(s) for {op.symbol}: ")
    _, text = outcome(lambda: getattr(operator, f"i{name}")(Bare(), Bare()))
    assert text.startswith(f"unsupported operand type(s) for {op.inplace_symbol}: ")


def test_an_error_within_an_operator_is_left_as_it_is():
    class Adding:
        def __add__(self, other):
            return [] - other

    def f(x):
        o = Adding()
        o += x
        return x

    require_same(f, 1.5)


def add_to_a_list(x, other):
    items = [1.0]
    items += x
    return x


def multiply_matrices(x, other):
    return [1.0] @ x


def divide_other(x, other):
    return divmod(other, x)[0]


def raise_modulo(x, other):
    return pow(x, other, 2)


def index_a_list(x, other):
    return [1.0, 2.0][x]


@pytest.mark.parametrize(
    ("f", "x", "other"),
    [
        (add_to_a_list, 1.5, None),
        (multiply_matrices, 1.5, None),
        (multiply_matrices, np.float64(1.5), None),
        (divide_other, 1.5, None),
        (divide_other, 1.5, Bare()),
        (divide_other, 1.5, 1j),
        (raise_modulo, 1.5, 2),
        (raise_modulo, np.ones(2), Bare()),
        (raise_modulo, np.ones(2), 2.0),
        (index_a_list, 1.5, None),
        (index_a_list, np.float64(1.5), None),
    ],
)
def test_rarer_operands(f, x, other):
    require_same(f, x, other)


def assign_to_a_slice(x, other):
    values = [1.0, 2.0, 3.0]
    values[other] = x
    return sum(values)


@pytest.mark.parametrize("other", [slice(0, 1), slice(0, 3, 2)])
@pytest.mark.parametrize("x", [1.5, np.float64(1.5), np.array(1.5)])
def test_numbers_assigned_to_slices(x, other):
    require_same(assign_to_a_slice, x, other)


def conjugate(x, other):
    return x.conjugate(other)


def squeeze(x, other):
    return x.squeeze(other)


@pytest.mark.parametrize("x", [1.5, 1.5j, np.float64(1.5), np.complex64(1.5j)])
@pytest.mark.parametrize("f", [conjugate, squeeze])
def test_arguments_of_methods_of_numbers(f, x):
    require_same(lambda x: f(x, 1).real, x)
