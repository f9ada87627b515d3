"""The kinds of the operands of statements on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.statements.kinds import (
    ELEMENT,
    FULL,
    PART,
    Kinds,
    is_served,
    kind_name,
    kinds_of,
)
from mooncake_py.runtime.active import Active, active_number
from tests.compiler.statements.cores import core_of

X, M = np.ones(3), np.ones((2, 3))
SQUARE = np.ones((3, 3))


def kinds(text: str, *values: Any, target: str = "", out: bool = False) -> Kinds | None:
    """Return the kinds for values in the order in which operands are passed."""
    core = core_of(text, target, out)
    operands: list[Any] = [
        values[part] if isinstance(part, int) else values[part[0]][values[part[1]]]
        for part in core.statement.layout
    ]
    return kinds_of(core, operands, values)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("a * b", (X, X), (FULL, FULL)),
        ("a * b", (M, X), (FULL, PART)),
        ("a * b", (X, M), (PART, FULL)),
        ("a * b", (X[:, None], X), (PART, PART)),
        ("a * b", (X, 2.0), (FULL, float)),
        ("a * b", (X, np.float64(2.0)), (FULL, np.float64)),
        ("a * b", (X, 2), (FULL, int)),
        ("a * x[i]", (X, X, 1), (FULL, ELEMENT)),
        ("a * x[i]", (M, M, 1), (FULL, PART)),
        ("a @ b + c", (M, X, np.ones(2)), ("matrix", "vector", FULL)),
        ("a @ b + b", (SQUARE, X), ("matrix", "vector and array")),
        ("a @ b * c", (X, X, X), ("vector", "vector", FULL)),
        ("np.sum(a) * b", (X, X), (FULL, FULL)),
        ("a.mean() * b", (X, X), (FULL, FULL)),
        ("a - (a * b).sum()", (M, X), (FULL, PART)),
        ("a * b.max(axis=0)", (M, M), ("array of any shape", "array of any shape")),
    ],
)
def test_kinds_of_expressions(text, values, expected):
    assert kinds(text, *values) == Kinds(expected, True)


def test_active_numbers():
    context: Any = None
    assert kinds("a * b", X, active_number(2.0, context)) == Kinds((FULL, Active), True)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("np.sum(a * b)", (X, X), (FULL, FULL)),
        ("np.sum(a * b)", (M, X), (FULL, PART)),
        ("np.mean(a * b) / c", (X, X, 2.0), (FULL, FULL, float)),
        ("(a * b).mean()", (M, X), (FULL, PART)),
        ("a.dot(b)", (X, X), ("vector", "vector")),
        ("a @ b", (X, X), ("vector", "vector")),
        ("np.sum(a) * b", (X, 2.0), (FULL, float)),
    ],
)
def test_kinds_of_numbers(text, values, expected):
    assert kinds(text, *values) == Kinds(expected, None)


@pytest.mark.parametrize(
    ("values", "expected"),
    [((X, X), Kinds((FULL, FULL), True)), ((M, X), Kinds((FULL, PART), False)),
     ((M, 2.0), Kinds((FULL, float), False))],
)  # fmt: skip
def test_kinds_of_changes(values, expected):
    a, b = values
    assert kinds("+= b", b, a, target="a") == expected


def test_a_change_may_not_grow_its_target():
    assert kinds("+= b", M, X, target="a") is None


def test_what_writes_by_out_is_of_the_shape_of_the_target():
    assert kinds("np.add(a, b)", X, X, M, target="c", out=True) == Kinds((PART, PART), True)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a * b", (X.astype(np.float32), X)),
        ("a * b", (np.arange(3), X)),
        ("a * b", ((X * 1j).astype(np.complex64), X)),
        ("a * b", ((X * 1j).astype(np.complex64), X * 1j)),
        ("a * b", (X.astype(np.float32), 1j)),
        ("a * 1j", (X.astype(np.float32),)),
        ("np.sum(a * b)", (X * 1j, X)),
        ("a @ b", (X * 1j, X)),
        ("a * b", (np.array(1.0), X)),
        ("a * b", ([1.0], X)),
        ("a * b", (np.float32(1.0), X)),
        ("a * b", (True, X)),
        ("np.sum(a) * b", (X, M)),
        ("np.sum(a) * b", (M, X)),
        ("a - np.sum(a) * np.max(a, axis=0)", (X,)),
        ("np.sum(a) + np.sum(b)", (X, M)),
        ("a @ b * c", (SQUARE, X, SQUARE)),
        ("a @ b + b", (M, X)),
    ],
)
def test_what_is_not_served(text, values):
    try:
        assert kinds(text, *values) is None
    except ValueError:
        assert text == "a @ b + b"  # shapes that do not fit


def test_what_is_served():
    assert is_served(X)
    assert is_served(1)
    assert not is_served(np.array(1.0))
    assert not is_served(True)
    assert is_served(1j)


def test_names_of_kinds():
    names = [kind_name(kind) for kind in (FULL, float, np.float64, Active)]
    assert names == ["array", "float", "float64", "active float"]
