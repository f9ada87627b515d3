"""Functions of this package that are called within a derivative: which run as they are."""

from __future__ import annotations

from typing import Any

import pytest
from numpy.testing import assert_allclose

from mooncake_py import elementwise, from_vjp, grad, jvp, overlay, zero_derivative
from mooncake_py.errors import NestedDerivativeError


def declares_elementwise(f):
    elementwise(f, 7.0)


def declares_constant(f):
    zero_derivative(f)


def declares_overlay(f):
    overlay(f)(lambda x: 7.0 * x)


def declares_pullback(f):
    from_vjp(f)(lambda x: (x**3, lambda dy: (7.0 * dy,)))


@pytest.mark.parametrize(
    ("declares", "slope"),
    [(declares_elementwise, 7.0), (declares_constant, 0.0), (declares_overlay, 7.0),
     (declares_pullback, 7.0)],
)  # fmt: skip
def test_rules_that_a_differentiated_function_declares_stay(declares, slope):
    def f(x):
        def cube(x):
            return x**3

        made.append(cube)
        before = cube(x)
        declares(cube)
        return before + cube(x)

    for _ in range(2):
        made: list[Any] = []
        assert_allclose(grad(f)(2.0), 12.0 + slope)
        assert_allclose(jvp(f, (2.0,), (1.0,))[1], 12.0 + slope)


def test_a_rule_that_captures_an_active_number_is_refused():
    def f(x):
        def cube(v):
            return v**3

        elementwise(cube, lambda v, y: x)
        return cube(x)

    with pytest.raises(NestedDerivativeError):
        grad(f)(2.0)
    assert grad(lambda x: x * x)(3.0) == 6.0  # the table is as it was
