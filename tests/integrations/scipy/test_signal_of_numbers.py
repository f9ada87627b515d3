"""Convolutions of numbers, which are products."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad

sg: Any = pytest.importorskip("scipy.signal")


@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve"])
def test_two_numbers(name: str) -> None:
    def f(x: Any) -> Any:
        return 2.0 * getattr(sg, name)(x[0], x[1])

    x = np.array([3.0, 5.0])
    value, dx = value_and_grad(f)(x)
    assert value == f(x) == 30.0
    np.testing.assert_array_equal(dx, [10.0, 6.0])
    assert jvp(f, (x,), (np.ones(2),))[1] == 16.0
