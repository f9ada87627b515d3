"""Arrays of other packages as arguments: the error says how to make arrays of NumPy of them."""

import re

import numpy as np
import pytest

from mooncake_py import (
    NonDifferentiableArgumentError,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    vjp,
)

X = np.array([1.0, 2.0])


def loss(w):
    return np.sum(w * w)


def array_of(package, **methods):
    return type("Array", (), {"__module__": f"{package}.core", "__array__": None, **methods})()


FOREIGN = {
    "jax": (array_of("jaxlib"), r"np\.asarray\(w\)"),
    "torch": (array_of("torch"), r"w\.detach\(\)\.numpy\(\)"),
    "pandas": (array_of("pandas", to_numpy=None), r"w\.to_numpy\(\)"),
}
WAYS = {
    "grad": lambda x: grad(loss)(x),
    "vjp": lambda x: vjp(loss, x),
    "jvp": lambda x: jvp(loss, (x,), (X,)),
    "jacobian": lambda x: jacobian(loss)(x),
    "hessian": lambda x: hessian(loss)(x),
    "hvp": lambda x: hvp(loss, (x,), X),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("package", FOREIGN)
def test_an_array_of_another_package(package, way):
    value, fix = FOREIGN[package]
    text = r"argument 0 \('w'\): it is a"
    with pytest.raises(NonDifferentiableArgumentError, match=text) as caught:
        WAYS[way](value)
    assert "without floats" not in str(caught.value)
    assert re.search(fix, caught.value.fix)


def test_one_within_a_dict():
    with pytest.raises(NonDifferentiableArgumentError, match="a dict that holds an Array of torch"):
        grad(lambda d: d["a"])({"a": FOREIGN["torch"][0]})


def test_constants_of_another_package_are_left_alone():
    y, back = vjp(lambda x, other: x * 2.0, 3.0, FOREIGN["jax"][0])
    assert y == 6.0
    assert back(1.0)[0] == 2.0


def test_a_series_of_pandas():
    pandas = pytest.importorskip("pandas")
    for run in WAYS.values():
        with pytest.raises(NonDifferentiableArgumentError, match="a Series of pandas"):
            run(pandas.Series(X))
