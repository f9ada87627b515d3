"""Precision and bits of gradients of arrays, and of sequences in place of arrays."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.support.gradients import check
from tests.support.pairs import rotating


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_partials_of_a_higher_precision_leave_gradients_in_their_dtype(dtype):
    x = np.array([[0.5, 1.0, -2.0], [1.5, 0.25, 3.0]], dtype)
    for f in (
        lambda x: np.sum(np.ldexp(x, [1, 2, 3])),
        lambda x: np.sum(np.clip(x, x[:, :1], x[:, 1:2])),
        lambda x: np.sum(np.ldexp(x, [1, 2, 3]) * np.float64(2.0)),
    ):
        assert value_and_grad(f)(x)[1].dtype == dtype


@pytest.mark.parametrize(
    "make", [list, tuple, lambda x: x.tolist(), lambda x: [x[0], [1.0, x[1, 1]]]]
)
def test_windows_of_sequences(make):
    def windows(x):
        of_rows = np.lib.stride_tricks.sliding_window_view(make(x), 2, axis=1)
        by_name = np.lib.stride_tricks.sliding_window_view(x=make(x), window_shape=(1, 2))
        strided = np.lib.stride_tricks.as_strided(make(x), (2,), (8,))
        return np.sum(of_rows * x[0]) + np.sum(by_name * x[1]) + np.sum(strided * x[0])

    check(windows, np.array([[1.0, 2.0], [3.0, 5.0]]))


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize(
    ("dtype", "exponent"), rotating([float, complex, np.float32], [2, 2.0, 0.5, -1, 1, 3, 0])
)
def test_powers_in_place_have_the_bits_of_numpy(exponent, dtype):
    x = (np.linspace(0.1, 7.3, 50) * (1 + 0.3j if dtype is complex else 1)).astype(dtype)

    def powers(x):
        y = x * 1
        y **= exponent
        return np.sum(np.abs(y))

    value, gradient = value_and_grad(powers)(x)
    assert value == powers(x)
    modulus = np.abs(x).astype(float)
    np.testing.assert_allclose(
        np.abs(gradient), np.abs(exponent * modulus ** (exponent - 1.0)), rtol=1e-5
    )
