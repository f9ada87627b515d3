"""Callbacks that find active numbers where no plain ones can stand for them, or in methods."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, jvp, value_and_grad

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

pytestmark = pytest.mark.without_modes("the programs read what the function has captured")

Maker = Callable[[Any], Callable[[], Any]]
CARRIERS: dict[str, Maker] = {}


def carrier(make: Maker) -> Maker:
    CARRIERS[make.__name__] = make
    return make


@carrier
def default_of_a_static_method(x):
    class Held:
        @staticmethod
        def rate(k=x):
            return k

    return lambda: Held.rate()


@carrier
def keyword_default_of_a_class_method(x):
    class Held:
        @classmethod
        def rate(cls, *, k=x):
            return k

    return lambda: Held.rate()


@carrier
def default_of_a_property(x):
    class Held:
        @property
        def rate(self, k=x):
            return k

    held = Held()
    return lambda: held.rate


@carrier
def default_of_a_bound_method(x):
    class Held:
        def rate(self, k=x):
            return k

    return Held().rate


@carrier
def partial_in_a_class(x):
    class Held:
        rate = staticmethod(functools.partial(operator.mul, x))

    return lambda: Held.rate(1.0)


@carrier
def method_caller(x):
    caller = operator.methodcaller("get", "rate", x)
    return lambda: caller({})


@carrier
def slice_of_numbers(x):
    held = slice(0, 1, x)
    return lambda: held.step


@carrier
def tuple_in_a_class(x):
    class Held:
        rates = [(1, {"a": (x,)})]

    return lambda: Held.rates[0][1]["a"][0]  # type: ignore[index]


@carrier
def method_of_a_number(x):
    multiplied = x.__mul__
    return lambda: multiplied(1.0)


@carrier
def conjugate_of_a_number(x):
    conjugate = x.conjugate
    return lambda: conjugate()


@carrier
def function_bound_to_a_number(x):
    return types.MethodType(lambda number: np.tan(number), x)


SOLVERS: dict[str, Callable[[Any], Any]] = {
    "brentq": lambda k: optimize.brentq(lambda t: k() * t + 0.3 * t**3 - 0.1, -9, 9),
    "fsolve": lambda k: optimize.fsolve(lambda t: [k() * t[0] + 0.3 * t[0] ** 3 - 0.1], [0.1])[0],
    "quad": lambda k: integrate.quad(lambda t: k() * t * t, 0, 1)[0],
    "least_squares": lambda k: optimize.least_squares(lambda t: k() * t - 0.1, [0.1]).x[0],
}
QUICK = ("brentq", "least_squares")


@pytest.mark.parametrize(
    "solver", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in SOLVERS]
)
@pytest.mark.parametrize("name", CARRIERS)
def test_numbers_that_callbacks_find(name: str, solver: str) -> None:
    def f(x):
        return SOLVERS[solver](CARRIERS[name](x))

    expected = (f(1.2 + 1e-5) - f(1.2 - 1e-5)) / 2e-5
    for y, slope in (value_and_grad(f)(1.2), jvp(f, (1.2,), (1.0,))):
        assert y == f(1.2)
        assert slope == pytest.approx(expected, rel=1e-5)


def test_methods_of_numbers_beside_numbers_that_move():
    def f(x: Any) -> Any:
        multiplied, conjugate = x.__mul__, x.conjugate
        return optimize.brentq(lambda t: multiplied(t) * conjugate() + t**3 - 0.1, -9, 9)

    expected = (f(1.2 + 1e-5) - f(1.2 - 1e-5)) / 2e-5
    assert value_and_grad(f)(1.2)[1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["default_of_a_static_method", "method_of_a_number"])
def test_second_derivatives(name: str) -> None:
    def f(x):
        return SOLVERS["quad"](CARRIERS[name](x * x))

    assert hvp(f, (1.2,), 1.0) == pytest.approx(2 / 3)
    assert grad(grad(f))(1.2) == pytest.approx(2 / 3)
