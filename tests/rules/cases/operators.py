"""Cases for the functions of the `operator` module, `abs` and conjugation of scalars."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.rules.cases import Case


def arithmetic_cases() -> list[Case]:
    """Arithmetic on floats, complex numbers and NumPy scalars."""
    unary: list[Callable[..., Any]] = [operator.neg, operator.pos, operator.abs, abs]
    binary: list[Callable[..., Any]] = [
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow,
    ]  # fmt: skip
    cases = [Case(f, (x,)) for f in unary for x in (1.5, -0.7, 0.3 - 0.4j, np.float32(1.5))]
    for f in binary:
        cases += [
            Case(f, (1.5, 0.7)), Case(f, (1.5, 2)), Case(f, (2, 1.5)), Case(f, (0.3 + 0.4j, 1.2)),
            Case(f, (1.2, 0.3 + 0.4j)), Case(f, (0.3 + 0.4j, -0.5 + 1j)),
            Case(f, (np.float32(1.5), np.float32(0.75))),
        ]  # fmt: skip
    return [
        *cases,
        Case(operator.pow, (-1.5, 3), label="negative base"),
        Case(operator.pow, (-1.5, -2), label="negative base"),
        Case(operator.pow, (-8.0, 0.3), label="complex result"),
        Case(operator.mod, (2.7, 1.2)),
        Case(operator.mod, (-2.7, 1.2)),
        Case(operator.mod, (2.7, -1.2)),
        Case(operator.floordiv, (2.7, 1.2)),
        Case(operator.index, (3,)),
        Case(float.conjugate, (1.5,)),
        Case(complex.conjugate, (1.5 - 0.5j,)),
        Case(operator.abs, (0.0,), label="kink", interface_only=True),
        Case(operator.abs, (0j,), label="kink", interface_only=True),
        Case(operator.pow, (0.0, 0.5), label="kink", interface_only=True),
        Case(operator.pow, (0.0, 0.0), label="kink", interface_only=True),
        Case(operator.pow, (0.0, 1), label="kink", interface_only=True),
        Case(operator.pow, (-1.5, 2.0), label="kink", interface_only=True),
    ]


def comparison_cases() -> list[Case]:
    """Reading, comparison and bits."""
    compare: list[Callable[..., Any]] = [
        operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt,
        operator.is_, operator.is_not,
    ]  # fmt: skip
    bits: list[Callable[..., Any]] = [
        operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
    ]  # fmt: skip
    unary: list[Callable[..., Any]] = [operator.not_, operator.truth, operator.invert]
    x = np.linspace(0.5, 1.5, 4)
    return [
        *(Case(f, (1.5, 0.5)) for f in compare),
        *(Case(f, (x, x[::-1].copy())) for f in compare[:6]),
        *(Case(f, (6, 3)) for f in bits),
        *(Case(f, (6,)) for f in unary),
        Case(operator.not_, (1.5,)),
        Case(operator.truth, (1.5,)),
        Case(operator.or_, ({"a": 1.5}, {"b": 2.5}), label="dictionaries"),
        Case(operator.contains, ([1.5, 2.5], 2.5)),
        Case(operator.getitem, ([1.5, 2.5], 1)),
        Case(operator.getitem, (x, 2)),
        Case(operator.getitem, (x, [0, 2, 2])),
        Case(operator.getitem, (x, slice(1, 3)), label="view"),
    ]


def inplace_cases() -> list[Case]:
    """Functions that change their first argument."""
    arithmetic: list[Callable[..., Any]] = [
        operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow,
        operator.imod,
    ]  # fmt: skip
    x, v = np.array([2.6, 2.7, 2.8]), np.array([1.0, 1.05, 1.1])
    return [
        *(Case(f, (x, v)) for f in arithmetic),
        *(Case(f, (x, 1.05), label="number") for f in arithmetic),
        *(Case(f, (2.7, 1.05)) for f in arithmetic),
        Case(operator.ifloordiv, (x, v)),
        Case(operator.imatmul, (np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, 1], [2, 0]]))),
        Case(operator.setitem, (x, 1, 0.5)),
        Case(operator.setitem, (x, slice(0, 2), v[:2].copy())),
        Case(operator.delitem, ([1.5, 2.5], 0)),
    ]


def cases() -> list[Case]:
    """All cases of the family."""
    return [*arithmetic_cases(), *comparison_cases(), *inplace_cases()]
