"""Arithmetic on bools in compiled functions: NumPy's are not ints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad

pytestmark = pytest.mark.plain

X = np.array([0.7, -0.2])


def added(x: Any) -> Any:
    return x[0] * np.add(x[0] > 0, x[0] > 0) + x[1]


def subtracted(x: Any) -> Any:
    return x[0] * np.subtract(x[0] > 0, x[0] > 0)


def negative(x: Any) -> Any:
    return x[0] * np.negative(x[0] > 0)


def minus(x: Any) -> Any:
    return x[0] * -(x[0] > 0)


def plus(x: Any) -> Any:
    return x[0] * +(x[0] > 0)


def of_python(x: Any) -> Any:
    v = float(x[0])
    return x[1] * -(v > 0.5) + x[0]


@pytest.mark.parametrize("f", [added, subtracted, negative, minus, plus, of_python])
def test_it_is_as_without(f: Callable[[Any], Any], tried: list[bool]) -> None:
    try:
        expected, g = value_and_grad(f)(X)
    except TypeError:
        with pytest.raises(TypeError):
            value_and_grad(f, compile=True)(X)
    else:
        value, found = value_and_grad(f, compile=True)(X)
        assert value == expected
        np.testing.assert_array_equal(found, g)
    assert not any(tried) or f is of_python
