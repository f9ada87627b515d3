"""Integrals by SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, SolverError, grad, hessian, jvp, value_and_grad

pytest.importorskip("scipy")
from scipy import integrate as si

from tests.solvers.differences import along, slow_but

A = np.array([1.2, 0.5, 0.7])
V = np.array([1.0, 2.0, 3.0])


def wave(x: Any, a: Any, b: Any) -> Any:
    return math.exp(-a * x * x) * math.cos(b * x + x)


def quad(a: Any, low: Any, high: Any, **options: Any) -> Any:
    return si.quad(lambda x: wave(x, a[0], a[1]), low, high, **options)[0]


def quad_vec(a: Any, low: Any, high: Any, **options: Any) -> Any:
    return np.sum(si.quad_vec(lambda x: np.exp(-a * x * x + x), low, high, **options)[0] ** 2)


INTEGRALS: dict[str, Callable[[Any], Any]] = {
    "quad": lambda a: quad(a, a[2], 2.0),
    "args": lambda a: si.quad(wave, 0.0, a[2], args=(a[0], a[1]))[0],
    "backwards": lambda a: quad(a, 2.0, a[2]),
    "points": lambda a: quad(a, a[2], 2.0, points=[1.0]),
    "to infinity": lambda a: quad(a, a[2], np.inf),
    "from infinity": lambda a: quad(a, np.inf, a[2]),
    "to minus infinity": lambda a: quad(a, a[2], -np.inf),
    "from minus infinity": lambda a: quad(a, -np.inf, a[2]),
    "all": lambda a: quad(a, -np.inf, np.inf),
    "all backwards": lambda a: quad(a, np.inf, -np.inf),
    "full output": lambda a: si.quad(
        lambda x: wave(x, a[0], a[1]), 0, 1, full_output=True, epsrel=1e-10
    )[0],
    "complex": lambda a: abs(
        si.quad(lambda x: np.exp(1j * a[0] * x) * a[1], 0, a[2], complex_func=True)[0]
    ),
    "quad_vec": lambda a: quad_vec(a, a[1], 2.0),
    "quad_vec backwards": lambda a: quad_vec(a, 2.0, a[1]),
    "quad_vec to infinity": lambda a: quad_vec(a, a[1], np.inf, epsrel=1e-11),
    "quad_vec from minus infinity": lambda a: quad_vec(a, -np.inf, a[1], epsrel=1e-11),
    "quad_vec all": lambda a: quad_vec(a, -np.inf, np.inf, epsrel=1e-11),
    "quad_vec full output": lambda a: quad_vec(a, 0.0, 1.0, full_output=True, quadrature="gk15"),
    "simpson": lambda a: si.simpson(np.exp(-a[0] * np.arange(9.0)), x=np.arange(9.0) * a[1]),
}
SEVERAL: dict[str, Callable[[Any], Any]] = {
    "dblquad": lambda a: si.dblquad(
        lambda y, x: math.exp(-a[0] * x * y) * a[1], 0, 1, lambda x: a[2] * x, lambda x: 1 + x
    )[0],
    "nquad": lambda a: si.nquad(
        lambda x, y, k: math.exp(-k * x * y), [[0, a[1]], [0, a[2]]], args=(a[0],)
    )[0],
}


@pytest.mark.sampled(5)
@pytest.mark.without_modes("the differences of many of them take long")
@pytest.mark.parametrize("name", INTEGRALS | SEVERAL)
def test_against_differences(name: str) -> None:
    f = (INTEGRALS | SEVERAL)[name]
    value, gradient = value_and_grad(f)(A)
    assert value == f(A)
    assert gradient @ V == pytest.approx(along(f, A, V), rel=1e-8, abs=1e-9)
    assert jvp(f, (A,), (V,))[1] == pytest.approx(gradient @ V, rel=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.without_modes("the differences of many of them take long")
@pytest.mark.parametrize("name", slow_but(["args", "to infinity", "quad_vec"], INTEGRALS))
def test_second_derivatives_against_differences(name: str) -> None:
    f = INTEGRALS[name]
    expected = pytest.approx(along(lambda a: grad(f)(a) @ V, A, V), rel=1e-6, abs=1e-8)
    assert V @ hessian(f)(A) @ V == expected
    assert grad(lambda a: grad(f)(a) @ V)(A) @ V == expected


def test_gaussian_integral() -> None:
    found = grad(lambda a: si.quad(lambda x: math.exp(-a * x * x), -np.inf, np.inf)[0])(2.0)
    assert found == pytest.approx(-0.25 * math.sqrt(math.pi / 2), rel=1e-10)


@pytest.mark.thorough
def test_limit_to_third_order() -> None:
    def f(b: Any) -> Any:
        return si.quad(math.sin, 0.0, b)[0]

    assert grad(f)(0.5) == pytest.approx(math.sin(0.5))
    assert hessian(f)(0.5) == pytest.approx(math.cos(0.5))
    assert grad(grad(grad(f)))(0.5) == pytest.approx(-math.sin(0.5))


def test_function_need_not_be_differentiable_in_the_variable() -> None:
    """It is constant on pieces, of which the ends are named."""

    def f(a: Any) -> Any:
        def steps(x: Any) -> Any:
            return a if x > 0.5 else 3.0

        return si.quad(steps, 0.0, a, points=[0.5])[0]

    assert grad(f)(2.0) == pytest.approx(1.5 + 2.0)


def test_infinite_limit_of_what_is_active() -> None:
    def f(a: Any) -> Any:
        return si.quad(lambda x: x * x * math.exp(-a * x * x), a - np.inf, a + np.inf)[0]

    assert grad(f)(1.0) == pytest.approx(-0.75 * math.sqrt(math.pi))


def test_empty_interval() -> None:
    assert grad(lambda b: si.quad(math.cos, 0.5, b)[0])(0.5) == math.cos(0.5)
    assert grad(lambda b: si.quad_vec(math.cos, 0.5, b)[0])(0.5) == math.cos(0.5)


def test_kink() -> None:
    found = grad(lambda a: si.quad(lambda x: abs(x - a), 0, 1)[0])(0.5132)
    assert found == pytest.approx(0.0264, abs=2e-5)


def test_constants_are_not_looked_at() -> None:
    def f(a: Any) -> Any:
        return a * si.quad(lambda x: 1.0 if x > 0.3 else 0.0, 0, 1)[0]

    assert grad(f)(2.0) == pytest.approx(0.7)


def refusal(f: Any) -> Any:
    with pytest.raises((SolverError, MissingRuleError)) as caught:
        grad(f)(0.5)
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    return caught.value


@pytest.mark.parametrize("shift", [0.0, 0.0132])
def test_jump_that_may_move(shift: float) -> None:
    error = refusal(lambda a: si.quad(lambda x: x if x > a + shift else 0.0, 0, 1)[0])
    assert f"near {0.5 + shift}" in error.why
    error = refusal(
        lambda a: si.quad_vec(lambda x: np.where(x > a + shift, np.ones(2), 0.0), 0, 1)[0].sum()
    )
    assert f"near {0.5 + shift}" in error.why


def test_singularity() -> None:
    refusal(lambda a: si.quad(lambda x: x ** (a - 1), 0, 1)[0])
    refusal(lambda a: si.quad(lambda x: a * math.log(x), 0, 1)[0])


def test_not_implemented() -> None:
    error = refusal(lambda a: si.quad(lambda x: a * x, 0, 1, weight="cos", wvar=2.0)[0])
    assert "weight='cos'" in error.what
    error = refusal(lambda a: si.quad(lambda x: a * x, 0, 1, points=[a])[0])
    assert "points" in error.what


def test_warning_of_scipy() -> None:
    with pytest.warns(si.IntegrationWarning, match="maximum number of subdivisions"):
        grad(lambda a: si.quad(lambda x: a * math.sin(90 * x), 0, 1, limit=2)[0] * 0.0)(0.5)


class Measured:
    """A number with operators, of which QUADPACK makes a float."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __mul__(self, other: Any) -> Measured:
        return Measured(self.value * other)

    def __add__(self, other: Any) -> Measured:
        return Measured(self.value + getattr(other, "value", other))

    __rmul__, __radd__ = __mul__, __add__

    def __float__(self) -> float:
        return float(self.value)


def test_integrands_that_return_objects_which_are_converted():
    def area(k, low):
        return si.quad(lambda t: Measured(np.cos(k * t)), low, 1.0)[0]

    k, low = 1.3, 0.2
    by_k = (np.cos(k) - low * np.cos(k * low)) / k - (np.sin(k) - np.sin(k * low)) / k**2
    assert np.allclose(grad(area, argnums=(0, 1))(k, low), (by_k, -np.cos(k * low)))
    for v, expected in (((1.0, 0.0), by_k), ((0.0, 1.0), -np.cos(k * low))):
        assert np.isclose(jvp(area, (k, low), v)[1], expected)
