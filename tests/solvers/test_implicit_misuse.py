"""`implicit` of objects that are not a solver and an equation."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import InvalidRuleError, SolverError, grad, implicit, jvp

P = np.array([1.0, 2.0])


def residual(x: Any, p: Any) -> Any:
    return x * x - p


@pytest.mark.parametrize("given", [None, 3, "solve"])
def test_two_functions(given: Any) -> None:
    with pytest.raises(InvalidRuleError, match=r"`solve` is an? "):
        implicit(given, residual)
    with pytest.raises(InvalidRuleError, match=r"`residual` is an? "):
        implicit(np.sqrt, given)


@pytest.mark.parametrize("tolerance", [None, "a", 0.0, -1.0])
def test_tolerance(tolerance: Any) -> None:
    with pytest.raises(InvalidRuleError, match="not a positive number"):
        implicit(np.sqrt, residual, tolerance=tolerance)


@pytest.mark.parametrize("value", [None, "a", (P, 3), [1.0, 2.0]])
def test_solutions(value: Any) -> None:
    f = implicit(lambda p: value, residual)
    for call in (f, grad(lambda p: np.sum(f(p))), lambda p: jvp(f, (p,), (p,))):
        with pytest.raises(InvalidRuleError, match="the solution of an equation is a number or"):
            call(P)


@pytest.mark.parametrize("value", [1, np.array([1, 1])])
def test_solutions_of_ints(value: Any) -> None:
    f = implicit(lambda p: value, lambda x, p: x * p[0] - p[0])
    with pytest.raises(SolverError, match="return floats"):
        grad(lambda p: np.sum(f(p)))(P)


@pytest.mark.parametrize("value", [None, "a", (P, 3)])
def test_residuals(value: Any) -> None:
    def equations(x: Any, p: Any) -> Any:
        return value

    f = implicit(np.sqrt, equations)
    with pytest.raises(
        InvalidRuleError, match=r"equations returned .*, but the residual"
    ) as raised:
        grad(lambda p: np.sum(f(p)))(P)
    assert raised.value.where is not None
    assert raised.value.where.file == __file__


def test_residuals_without_slope_name_the_equation() -> None:
    f = implicit(np.sqrt, lambda x, p: x * x == p)
    with pytest.raises(Exception, match=r"the lambda at test_implicit_misuse\.py"):
        grad(lambda p: np.sum(f(p)))(P)
