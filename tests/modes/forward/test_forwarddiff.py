"""`forwarddiff`: forward mode for a part of a program that is differentiated in reverse."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import forwarddiff, grad
from mooncake_py.errors import NestedDerivativeError


def test_what_the_function_captures_is_refused_not_dropped() -> None:
    def f(a, b):
        return forwarddiff(lambda a: a * b, a)

    assert grad(f)(2.0, 3.0) == 3.0  # b is a constant here
    with pytest.raises(NestedDerivativeError, match=r"(?s)forwarddiff\.py.*part of the argument"):
        grad(f, argnums=(0, 1))(2.0, 3.0)


def test_captured_array() -> None:
    w = np.ones(2)

    def f(x):
        y = w * x
        return forwarddiff(lambda x: np.sum(y) * x, x)

    with pytest.raises(
        NestedDerivativeError, match="reads an active value other than its argument"
    ):
        grad(f)(2.0)


def test_passed_as_part_of_the_argument() -> None:
    def f(a, b):
        return forwarddiff(lambda p: p[0] * p[1], np.array([a, b]))

    assert grad(f, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)
