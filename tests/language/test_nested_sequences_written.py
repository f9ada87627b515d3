"""Lists written to a part of an array: NumPy refuses those that are nested deeper than the part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from tests.support.gradients import differences

X = np.arange(1.0, 7.0).reshape(2, 3)


def setting(index: Any, value: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Return a write of active numbers."""

    def write(x: Any) -> None:
        x[index] = value(x)

    return write


def set_real(x: Any) -> None:
    x.real = [[[1.0, x[1, 1], 2.0]]]


WRITES: dict[str, Callable[[Any], None]] = {
    "too deep for a row": setting(0, lambda x: [[1.0, x[1, 1], 2.0]]),
    "a tuple": setting(0, lambda x: ([x[1, 1], 1.0, 2.0],)),
    "too deep for all": setting(slice(None), lambda x: [[[1.0, x[1, 1], 2.0]]]),
    "arrays, too deep": setting(..., lambda x: [[x[0], x[1]]]),
    "too deep for a slice": setting((0, slice(0, 1)), lambda x: [[x[1, 1]]]),
    "too deep for an element": setting((0, 0), lambda x: [[x[1, 1]]]),
    "ragged": setting(0, lambda x: [1.0, [2.0], x[1, 1]]),
    "of another length": setting(0, lambda x: [1.0, x[1, 1]]),
    "for a new axis": setting((0, None), lambda x: [[x[1, 1], 1.0, 2.0]]),
    "broadcast": setting(0, lambda x: [x[1, 1] * 2.0]),
    "arrays": setting(..., lambda x: [x[0], x[1] * x[0]]),
    "by positions": setting([0, 1], lambda x: [[[1.0, x[1, 1], 2.0]]]),
    "no row": setting(7, lambda x: [[x[0, 0]]]),
    "part of the array": setting(0, lambda x: [x[1:, 0] * 2.0]),
    "real part": set_real,
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_raise_and_store_as_in_the_plain_call(name: str) -> None:
    def f(x: Any) -> Any:
        try:
            WRITES[name](x)
        except Exception as error:
            return np.sum(x * x) * (1.0 + len(str(error)))
        return np.sum(x * x * x)

    expected = differences(f, (X.copy(),), 0).reshape(X.shape)
    for options in ({}, {"compile": True}, {"debug": True}):
        value, g = value_and_grad(f, **options)(X)
        assert value == f(X.copy())
        np.testing.assert_allclose(g, expected, rtol=1e-6, atol=1e-6)
    value, slope = jvp(f, (X,), (X,))
    assert value == f(X.copy())
    np.testing.assert_allclose(slope, np.sum(expected * X), rtol=1e-6)
