"""Comparisons of what functions of arrays return: they run as one entry without a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.derivatives import check_to_second_order

X = np.array([0.5, -1.25, 2.0])
M = np.array([[1.5, 0.25, -0.75], [0.5, 2.5, 1.0], [-1.25, 0.75, 0.5]])


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
def test_nothing_is_recorded(dtype: Any) -> None:
    ctx = ReverseContext()
    x = X.astype(dtype)
    ctx.registry.activate(x)
    found = ctx.call(lambda x: np.abs(x) > 1.5, x)
    assert_array_equal(found, [False, False, True])
    assert not ctx.tape


@pytest.mark.plain
@pytest.mark.without_modes("the slope of absolute values fails here")
def test_no_tangent_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def distant(z: Any) -> Any:
        return np.sum(z[np.abs(z) > 1.0])

    def fail(*args: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("mooncake_py.rules.complex_parts.direction", fail)
    assert jvp(distant, (X + 1j,), (X + 0j,))[1] == np.sum(X[np.abs(X + 1j) > 1.0])


def conditional(x: Any, m: Any) -> Any:
    total = 0.0
    for k in range(3):
        if np.abs(x[k] - 0.25) < 1.0 or np.sum(m * x) > 10.0:
            total += x[k]
        near = np.abs(m - x) <= 0.9
        m[near] = m[near] ** 2
        total += np.sum(m[np.sin(x) * 2.0 != np.cos(m[0])])
        total -= 2.0 if np.hypot(total, 1.0) >= 3.0 else total * total
    return total


def test_values_and_derivatives_to_second_order() -> None:
    check_to_second_order(conditional, X, M)


def test_numbers_and_arrays_meet_at_one_place() -> None:
    def clipped(a: Any) -> Any:
        return np.abs(a) > 1.0

    def total(x: Any) -> Any:
        values = [x[0] if clipped(x[0]) else x[1], np.sum(x[clipped(x)])]
        return values[0] + values[1] + (x[2] if clipped(x[2]) else 0.0)

    assert_array_equal(grad(total)(X), [0.0, 2.0, 2.0])


def test_what_is_no_number_is_compared_in_its_own_way() -> None:
    def total(x: Any) -> Any:
        try:
            return np.sum(x) if np.abs(x) > "text" else 0.0
        except Exception as error:
            return np.sum(x) * len(type(error).__name__)

    assert grad(total)(X)[0] == total(np.array([1.0]))


@pytest.mark.parametrize("x", [1.0, np.float64(1.0), X])
def test_what_numbers_give_is_a_truth(x: Any) -> None:
    def f(x: Any) -> Any:
        t = np.sum(x)
        both = np.hypot(x, 1.0) >= 1.0, np.exp(t) < 1.0
        return t * t, (type(both[0]), type(both[1]), both[0], both[1])

    _, expected = f(x)
    (_, found), _ = value_and_grad(f, has_aux=True)(x)
    assert found[:2] == expected[:2]
    assert_array_equal(found[2], expected[2])
    assert found[3] == expected[3]
