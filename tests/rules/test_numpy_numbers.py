"""Functions of arrays take numbers of NumPy, whose cotangents are floats of Python at times."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, hessian, jvp

FUNCTIONS = (
    np.squeeze, np.transpose, np.permute_dims, np.ravel, np.atleast_1d, np.asarray, np.copy,
    np.conj, np.real, np.cumsum, np.mean, np.max, np.nan_to_num, np.trim_zeros, np.flip,
)  # fmt: skip
METHODS = ("squeeze", "transpose", "ravel", "copy", "conj", "item", "sum", "reshape", "flatten")


def first(y):
    """Return a number that is not the result of another rule."""
    return y if np.ndim(y) == 0 else y[0]


def check(f):
    x = np.float64(0.7)
    assert grad(f)(x) == pytest.approx(4.2)
    assert jvp(f, (x,), (1.0,))[1] == pytest.approx(4.2)
    assert hessian(lambda v: f(v[0]))(np.array([0.7])) == pytest.approx(6.0)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions(function):
    try:
        first(function(np.float64(0.7)))
    except ValueError:
        pytest.skip("not of numbers")
    check(lambda x: first(function(x * x)) * 3.0)


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    arguments = (-1,) if name == "reshape" else ()
    check(lambda x: first(getattr(x * x, name)(*arguments)) * 3.0)
