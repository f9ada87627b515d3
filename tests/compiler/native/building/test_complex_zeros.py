"""The sign of zero in sums with a complex number that is written down, compiled."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.support.pairs import rotating

pytestmark = pytest.mark.plain


def log_of_sum(a: Any) -> Any:
    return np.log(a + 0j).imag


def log_of_difference(a: Any) -> Any:
    return np.log(a - 0j).imag


def angle(a: Any) -> Any:
    return np.angle(0j + a)


def conjugate(a: Any) -> Any:
    return np.angle(np.conj(a + 0j))


def beside_others(a: Any) -> Any:
    z = a + 0j
    w = z + (1.0 - 0j) * z
    return w.imag + z.real


def of_array(x: Any) -> Any:
    z = x + 0j
    return np.sum(np.angle(z) * np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    ("f", "a"),
    rotating(
        [log_of_sum, log_of_difference, angle, conjugate, beside_others],
        [-0.0, 0.0, -2.0, 2.0],
        times=2,
    ),
)
def test_value_is_that_of_the_plain_call(f: Any, a: float, tried: list[bool]) -> None:
    with np.errstate(all="ignore"):
        value, _ = value_and_grad(f, compile=True)(a)
        expected = f(a)
    assert np.float64(value).tobytes() == np.float64(expected).tobytes()
    assert tried == [True], report(f)


def test_array(tried: list[bool]) -> None:
    x = np.array([-0.0, -1.0, 0.0])
    value, _ = value_and_grad(of_array, compile=True)(x)
    assert value == of_array(x)
