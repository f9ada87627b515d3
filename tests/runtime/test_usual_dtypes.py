"""Arrays that were pickled take the quick ways of other arrays, and have the same bits."""

import pickle

import numpy as np
import pytest

from mooncake_py import grad, jvp, vjp
from mooncake_py.runtime.values import take_usual_dtype

X = np.array([0.3, -1.2, 0.7, 2.0])


def unpickled(x):
    y = pickle.loads(pickle.dumps(x))
    assert y.dtype is not x.dtype
    return y


@pytest.mark.parametrize("code", "fdFD")
def test_equal_dtypes_become_the_one_that_numpy_makes(code):
    x = unpickled(np.ones(3, code))
    x.setflags(write=False)
    take_usual_dtype(x)
    assert x.dtype is np.dtype(code)
    np.testing.assert_array_equal(x, np.ones(3, code), strict=True)


@pytest.mark.parametrize("dtype", [">f8", "i8", "O", np.dtype("f8", metadata={"unit": "m"})])
def test_other_dtypes_stay(dtype):
    x = np.ones(3, dtype)
    before = x.dtype
    take_usual_dtype(x)
    assert x.dtype is before
    assert x.dtype.metadata == before.metadata


def smooth(p, c):
    u = p["u"] if isinstance(p, dict) else p
    u = u * c
    for _ in range(3):
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


DERIVATIVES = {
    "grad": lambda x, c: grad(smooth)(x, c),
    "in a dict": lambda x, c: grad(smooth)({"u": x}, c)["u"],
    "forward": lambda x, c: grad(smooth, mode="forward")(x, c),
    "vjp": lambda x, c: vjp(smooth, x, c)[1](1.0)[0],
    "jvp": lambda x, c: jvp(smooth, (x, c), (x.copy(), None))[1],
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_at_pickled_arrays_are_the_same_to_the_bit(name):
    derivative = DERIVATIVES[name]
    expected = derivative(X, X[::-1].copy())
    x, c = unpickled(X), unpickled(X[::-1].copy())
    np.testing.assert_array_equal(derivative(x, c), expected)
    if name in ("grad", "forward"):
        assert c.dtype is X.dtype  # that of a constant too
