"""What cannot be compiled runs as without, also where warnings are errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native import region_site
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, 1.2])


def without_axes(x: Any) -> Any:
    s = np.zeros(())
    s[...] = x[0]
    s += x[1] * s[()]
    return s[()] * x[2]


def into_more_axes(x: Any) -> Any:
    y = np.zeros((2, 3))
    np.multiply(x, x, out=y)
    return (y * y).sum()


def gamma(x: Any) -> Any:
    return math.gamma(x[0])


def lgamma(x: Any) -> Any:
    return math.lgamma(x[0])


def cbrt(x: Any) -> Any:
    return math.cbrt(x[0])


def remainders(x: Any) -> Any:
    return math.fmod(x[2], x[0])


def remainder(x: Any) -> Any:
    return math.remainder(x[2], x[0])


def scaled(x: Any) -> Any:
    return math.ldexp(x[2], -2)


def logarithm(x: Any) -> Any:
    return math.log(x[2], 2.5)


def larger(x: Any) -> Any:
    return np.sum(np.fmax(x, np.nan))


def float_power(x: Any) -> Any:
    return np.sum(np.float_power(x, x))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "f",
    [
        without_axes, into_more_axes, gamma, lgamma, cbrt, remainders, remainder, scaled, logarithm,
        larger, float_power,
    ],
)  # fmt: skip
def test_it_is_as_without(f: Callable[[Any], Any]) -> None:
    pytest.importorskip("llvmlite")
    value, g = value_and_grad(f, compile=True)(X)
    expected, h = value_and_grad(f)(X)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(g, h, rtol=1e-12)
    (found,) = map(str, report(f)[:1])
    assert "could not be compiled" not in found  # the line that stops it is told, if one does
    assert "Error" not in found


@pytest.mark.filterwarnings("error")
def test_a_warning_that_is_an_error_ends_nothing() -> None:
    region_site.warn_of("f", "of no reason")


def over_an_empty_list(x: Any) -> Any:
    items: list[Any] = []
    s = x[0]
    try:  # of which functions are not compiled
        for a in items:
            s = s + a
        for _ in range(30):
            s = s * x[1] + x[2]
    finally:
        pass
    return s


def test_a_loop_over_an_empty_list_is_left_without_a_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    pytest.importorskip("llvmlite")
    value, g = value_and_grad(over_an_empty_list, compile=True)(X)
    expected, h = value_and_grad(over_an_empty_list)(X)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(g, h, rtol=1e-12)
    assert not recwarn.list
