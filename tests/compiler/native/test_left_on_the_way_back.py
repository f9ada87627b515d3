"""Compiled code that fails in the reverse sweep: the derivative starts over without compilation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import hessian, hvp, value_and_grad, vjp
from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.machine import foreign, read_functions

pytestmark = pytest.mark.plain
X = np.array([0.0, 1.0])
MADE: dict[Any, Any] = {}
"""What is compiled here; code that refers to it may stay as long as the process."""


@pytest.fixture(autouse=True)
def raises(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let slopes of powers take infinity for an error, as `math.exp` does, in compiled code."""
    pytest.importorskip("llvmlite")
    assert math.copysign in operations.NEVER_RAISE
    monkeypatch.setattr(operations, "NEVER_RAISE", frozenset())
    monkeypatch.setattr(foreign, "MADE", MADE)
    read_functions.printed_alone.cache_clear()
    yield
    read_functions.printed_alone.cache_clear()


def whole(x, p):
    return (x**p).sum()


def in_parts(x, p):
    s = 0.0
    try:  # of which functions are not compiled
        for i in range(len(x)):
            s += x[i] ** p
    finally:
        pass
    return s


def called(x, p):
    y = np.array([in_parts(x, p), whole(x, p)])
    x[0] = 3.0
    return y.sum()


@pytest.mark.parametrize("f", [whole, in_parts, called])
def test_gradients(f: Callable[..., Any]) -> None:
    x = X.copy()
    expected = value_and_grad(f)(x, 0.5)
    assert np.isinf(expected[1][0])
    for _ in range(2):
        value, g = value_and_grad(f, compile=True)(x, 0.5)
        assert value == expected[0]
        assert_array_equal(g, expected[1])
        assert_array_equal(x, X)


def test_pullbacks_and_products() -> None:
    (g,) = vjp(lambda x: whole(x, 0.5), X, compile=True)[1](1.0)
    assert_array_equal(g, [np.inf, 0.5])
    assert_array_equal(hvp(whole, (X, 1.5), np.ones(2), compile=True), [np.inf, 0.75])
    assert_array_equal(hessian(whole, compile=True)(X, 1.5), [[np.inf, 0.0], [0.0, 0.75]])
