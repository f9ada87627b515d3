"""What raises in the plain call raises the same in derivatives."""
# pyright: reportArgumentType=false, reportOperatorIssue=false

from __future__ import annotations

import math
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


def magnitude_of_a_list(x):
    return abs([x[0]])


def sine_of_a_list(x):
    return math.sin([x[0]])


def logarithm_of_a_list(x):
    return math.log([x[0]])


def angle_of_a_tuple(x):
    return math.atan2((x[0],), 1.0)


def list_times_a_float(x):
    values = [x[0]]
    values *= 1.5
    return values[0]


def largest_of_nothing(x):
    return x[0] * max([])


def smallest_of_nothing(x):
    return min(v * v for v in x[:0])


def items_of_constants(x):
    return sum(1 / 0 for _ in (x[0], x[1]))


def shifts_of_constants(x):
    return sum(x[0] * sum(2 + (1 << -1) for _ in x) for _ in x)


@pytest.mark.parametrize(
    "f",
    [
        product_with_a_number, product_in_place_with_a_vector, axis_twice, shapes_that_do_not_join,
        axis_that_is_not_there, rows_that_do_not_fit, call_of_an_array,
        call_of_an_attribute, call_of_an_attribute_of_a_number, array_plus_a_text,
        magnitude_of_a_list, sine_of_a_list, logarithm_of_a_list, angle_of_a_tuple,
        list_times_a_float, largest_of_nothing, smallest_of_nothing,
        items_of_constants, shifts_of_constants,
    ],
)  # fmt: skip
def test_the_error_is_that_of_the_plain_call(f: Any) -> None:
    with pytest.raises(Exception, match=r".") as expected:
        f(X.copy())
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(expected.type) as found:
            derivative()
        assert str(found.value) == str(expected.value)
