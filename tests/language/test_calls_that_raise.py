"""What raises in the plain call raises the same in derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp

X = np.array([0.5, 1.5, 2.5])


def product_with_a_number(x):
    return np.sum(x @ 2.0)


def product_in_place_with_a_vector(x):
    a = np.outer(x, x)
    a @= x
    return np.sum(a)


def axis_twice(x):
    return np.sum(np.sum(np.outer(x, x), axis=(0, 0)))


def shapes_that_do_not_join(x):
    return np.sum(np.concatenate([x, np.outer(x, x)]))


def axis_that_is_not_there(x):
    return np.sum(np.concatenate([x, x], axis=1))


def rows_that_do_not_fit(x):
    return np.sum(np.hstack([np.outer(x, x), x]))


def call_of_an_array(x):
    return np.sum(x(1))


def call_of_an_attribute(x):
    return x.size()


def call_of_an_attribute_of_a_number(x):
    return x[0].real()


def array_plus_a_text(x):
    return np.sum(x + "1")


@pytest.mark.parametrize(
    "f",
    [
        product_with_a_number, product_in_place_with_a_vector, axis_twice, shapes_that_do_not_join,
        axis_that_is_not_there, rows_that_do_not_fit, call_of_an_array,
        call_of_an_attribute, call_of_an_attribute_of_a_number, array_plus_a_text,
    ],
)  # fmt: skip
def test_the_error_is_that_of_the_plain_call(f: Any) -> None:
    with pytest.raises(Exception, match=r".") as expected:
        f(X.copy())
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(expected.type) as found:
            derivative()
        assert str(found.value) == str(expected.value)
