"""Products with numbers that NumPy keeps as objects, such as fractions."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, jvp, value_and_grad

X = np.array([1.0, 2.0, 3.0])
PARTS = [Fraction(1, 2), Fraction(1, 3), Fraction(1)]
PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "dot": lambda x: np.dot(x, PARTS),
    "dot from the left": lambda x: np.dot(tuple(PARTS), x),
    "dot with one": lambda x: np.dot(x, PARTS[0])[1],
    "dot of two numbers": lambda x: np.dot(x[0], PARTS[0]),
    "method": lambda x: x.dot(PARTS),
    "matmul": lambda x: np.matmul(x, PARTS),
    "inner": lambda x: np.inner(x, PARTS),
    "inner with one": lambda x: np.inner(PARTS[0], x)[2],
    "vdot": lambda x: np.vdot(x, PARTS),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    f = PRODUCTS[name]
    value, dx = value_and_grad(lambda x: f(x) * 1.0)(X)
    assert value == f(X)
    expected = [f(e) for e in np.eye(3)]
    np.testing.assert_allclose(dx, expected)
    y, dy = jvp(lambda x: f(x) * 1.0, (X,), (np.ones(3),))
    assert y == f(X)
    np.testing.assert_allclose(dy, np.sum(expected))


def test_a_product_of_two_numbers_that_numpy_takes_for_objects_is_refused() -> None:
    with pytest.raises(MissingRuleError, match="vdot is called with a fractions"):
        value_and_grad(lambda x: np.vdot(x[0], PARTS[0]) * 1.0)(X)
