"""Numbers of other classes with active data: fractions in lists, objects with ``__float__``."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad

X = np.array([0.5, 1.5, 2.5])
HALVES: Any = [Fraction(1, 2), Fraction(3, 2), Fraction(5, 2)]
interp: Any = np.interp
fsum: Any = math.fsum


class Holding:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> float:
        return float(self.value)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: np.sum(x * x + HALVES),
    "mixed": lambda x: np.sum(x * [Fraction(1, 2), 2, 0.25]),
    "left": lambda x: np.sum(HALVES - x),
    "tuple": lambda x: (x * tuple(HALVES)).sum(),
    "quotient": lambda x: np.sum(HALVES / x),
    "power": lambda x: np.sum(x ** [Fraction(2), Fraction(3), 1]),
    "alone": lambda x: (x + Fraction(1, 2)).sum(),
    "compared": lambda x: np.sum(x[x < HALVES + np.ones(3)] ** 2),
    "fsum": lambda x: fsum([x[0], Fraction(1, 2), x[1] * x[2], Decimal("0.5")]),
    "fsum of objects": lambda x: fsum([Holding(x[0]), x[1] * x[2], Holding(0.25)]),
    "interp": lambda x: interp(Holding(0.7), [0.0, 1.0, 3.0], x),
    "interp at an active one": lambda x: interp(Holding(x[0]), [0.0, 1.0, 3.0], x),
    "interp between objects": lambda x: np.sum(
        interp(x, [Holding(0.0), Holding(1.0), Holding(3.0)], [1.0, 2.0, 5.0])
    ),
    "interp at several": lambda x: np.sum(
        interp([Holding(x[0]), 0.3], [0.0, 1.0, 3.0], [1.0, 2.0, 5.0])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    f = PROGRAMS[name]
    slopes = np.array([(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)], float)
    y, slope = value_and_grad(f)(X)
    assert y == f(X)
    np.testing.assert_allclose(slope, slopes, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(grad(f, debug=True)(X), slopes, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(float(jvp(f, (X,), (np.ones(3),))[1]), np.sum(slopes), rtol=1e-7)
