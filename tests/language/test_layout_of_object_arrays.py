"""The order of memory of arrays of objects, which ``ravel("K")`` and `strides` show."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad

X = np.array([[0.7, 1.3, 1.9], [0.4, 0.9, 2.1]])
MADE = {
    "array": lambda x: np.array(x.T, dtype=object),
    "array in C order": lambda x: np.array(x.T, dtype=object, order="C"),
    "array in Fortran order": lambda x: np.array(x, dtype=object, order="F"),
    "array with more axes": lambda x: np.array(x.T, dtype=object, ndmin=3),
    "array of rows": lambda x: np.array([x[0], x[1]], dtype=object, order="F"),
    "asarray": lambda x: np.asarray(x, dtype=object, order="F"),
    "asfortranarray": lambda x: np.asfortranarray(x, dtype=object),
    "ascontiguousarray": lambda x: np.ascontiguousarray(x.T, dtype=object),
    "astype": lambda x: x.T.astype(object),
    "astype in C order": lambda x: x.T.astype(object, order="C"),
    "mT": lambda x: x.mT.astype(object),
    "three axes": lambda x: np.transpose(x[:, :, None] * np.ones(4), (1, 2, 0)).astype(object),
    "reversed": lambda x: x[::-1].astype(object),
    "product": lambda x: x.T.astype(object) * 2,
    "product with a row": lambda x: x.T.astype(object) * x.T[0],
    "negative": lambda x: -x.T.astype(object),
    "floats": lambda x: x.T.astype(object).astype(float),
    "array of floats": lambda x: np.array(x.T.astype(object), float),
    "floats in C order": lambda x: x.T.astype(object).astype(float, order="C"),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_layout(make):
    def layout(x):
        y = make(x)
        return 0.0 * x[0, 0] + y.strides[0] + 100 * y.strides[1]

    assert value_and_grad(layout)(X)[0] == layout(X)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_elements_in_the_order_of_memory(make):
    def weighted(x):
        y = make(x).ravel("K")
        return sum([k * y[k] for k in range(len(y))])

    value, dx = value_and_grad(weighted)(X)
    assert value == weighted(X)
    if weighted(2 * X) == 2 * weighted(X):  # it is linear
        weights = [[weighted(unit(i, j)) for j in range(3)] for i in range(2)]
        np.testing.assert_allclose(dx, weights, rtol=1e-12)


def unit(i, j):
    e = np.zeros((2, 3))
    e[i, j] = 1.0
    return e


def test_flatten_in_fortran_order():
    def f(x):
        return np.asfortranarray(x).astype(object).flatten("A")[1]

    np.testing.assert_array_equal(grad(f)(X), unit(1, 0))


def test_a_mask_without_output_is_warned_of_once():
    def f(x):
        np.logical_not(x.astype(object), where=np.array([True, True, True]))
        return x[0, 0]

    with warnings.catch_warnings(record=True) as plain:
        warnings.simplefilter("always")
        f(X)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        grad(f)(X)
    assert [str(w.message) for w in found] == [str(w.message) for w in plain]
