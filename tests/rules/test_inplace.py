"""What the cases of the family `inplace` do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad, vjp


def test_nothing_is_put_without_values() -> None:
    def put(x: Any, y: Any) -> Any:
        np.put(x, [7], y)
        x.put([9], y)
        return x.sum()

    value, gradient = value_and_grad(put)(np.ones(3), np.zeros(0))
    assert value == 3.0
    assert gradient.tolist() == [1, 1, 1]
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        grad(put)(np.ones(3), np.ones(1))


def test_values_that_do_not_fit_are_seen_before_indices() -> None:
    def write(x: Any, y: Any) -> Any:
        x[[5, 6]] = y
        return x.sum()

    for run in (value_and_grad(write), lambda *args: vjp(write, *args)):
        with pytest.raises(ValueError, match="shape mismatch"):
            run(np.ones(3), np.ones(3))
        with pytest.raises(IndexError, match="out of bounds"):
            run(np.ones(3), np.ones(2))


@pytest.mark.parametrize("nan", [[[1.0]], np.array([[1.0, 2.0, 3.0]])])
def test_leading_axes_of_what_is_copied_are_left_out(nan):
    def f(x):
        y = np.zeros(3)
        np.copyto(y, np.reshape(x * x, (1, 3)), where=[True, False, True])
        z = np.where(x > 1.5, np.nan, x)
        return y.sum() + np.nan_to_num(z, nan=nan).sum()

    x = np.array([0.7, 1.3, 1.9])
    value, dx = value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(dx, [2.4, 1.0, 3.8], rtol=1e-14)
