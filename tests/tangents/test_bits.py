"""The bytes of arrays that carry their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.tangents.bits import bits_of


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
def test_padding_of_longdouble_means_nothing(dtype):
    x = np.array([0.5, 2.0, np.nan], dtype)
    bits = set()
    for filling in 0, 255:
        memory = np.full(x.nbytes, filling, np.uint8).view(dtype)
        np.multiply(x, x, out=memory)
        bits.add(bits_of(memory))
    assert bits == {bits_of(x * x)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble, np.clongdouble])
def test_each_bit_of_a_value_counts(dtype):
    x = np.array([0.5, 2.0, 0.0], dtype)
    for k, y in enumerate([np.nextafter(x.real[0], 1), np.nextafter(x.real[1], 0), -0.0]):
        other = x.copy()
        other[k] = y
        assert bits_of(other) != bits_of(x)
        assert bits_of(other[k]) != bits_of(x[k])


def test_bits_of_views_are_in_their_order():
    x = np.arange(6.0).reshape(2, 3)
    assert bits_of(x.T) == bits_of(x.T.copy()) != bits_of(x)
    assert bits_of(x[:0]) == b""
    assert bits_of(np.empty(0, np.longdouble)) == b""
