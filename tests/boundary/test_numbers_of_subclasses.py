"""Instances of subclasses of float and complex are constants, of which no derivative is made up."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import NoTangent, grad, hvp, jacobian, jvp, vjp
from mooncake_py.errors import (
    InvalidTangentError,
    NonDifferentiableArgumentError,
    NonScalarOutputError,
)


class Metres(float):
    """A float with a name."""


class Phasor(complex):
    """A complex number with a name."""


class Double(np.float64):
    """A number of NumPy with a name."""


class Measured(float):
    """A float with an attribute that has a derivative."""

    def __init__(self, value: float) -> None:
        self.error = 0.1 * value


def double(v):
    return abs(v) * 2.0


def first_times_second(v):
    return abs(v[0]) * v[1]


NUMBERS = [Metres(3.0), Phasor(3.0j), Double(3.0)]
of_each = pytest.mark.parametrize("number", NUMBERS, ids=lambda v: type(v).__name__)


@of_each
def test_derivatives_with_respect_to_it_are_refused(number):
    for derivative in (grad(double), grad(double, mode="forward"), jacobian(double)):
        with pytest.raises((NonDifferentiableArgumentError, NonScalarOutputError)):
            derivative(number)
    with pytest.raises(InvalidTangentError, match="a part without a derivative"):
        jvp(double, (number,), (1.0,))
    with pytest.raises(NonDifferentiableArgumentError):
        hvp(double, (number,), 1.0)


@pytest.mark.without_modes("no tangents of such numbers are made")
@of_each
def test_it_is_a_constant_beside_others(number):
    assert vjp(double, number)[1](1.0) == (NoTangent(),)
    expected = [NoTangent(), 3.0]
    assert grad(first_times_second)([number, 2.0]) == expected
    assert grad(first_times_second, mode="forward")([number, 2.0]) == expected
    assert grad(first_times_second, debug=True)([number, 2.0]) == expected
    with pytest.raises(InvalidTangentError, match=r"tangents\[0\]\[0\]"):
        jvp(first_times_second, ([number, 2.0],), ([1.0, 1.0],))
    assert jvp(first_times_second, ([number, 2.0],), ([None, 1.0],)) == (6.0, 3.0)


def test_it_has_no_column_in_a_jacobian():
    assert jacobian(first_times_second)([Metres(3.0), 2.0]) == [None, 3.0]


@pytest.mark.without_modes("no tangents of such numbers are made")
def test_its_attributes_have_derivatives():
    gradient = grad(lambda v: v * v.error)(Measured(3.0))
    assert gradient.error == 3.0
