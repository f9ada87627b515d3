"""Splines of SciPy that choose their knots: right as constants, refused for active data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad, jvp, value_and_grad

si: Any = pytest.importorskip("scipy.interpolate")

NODES = np.linspace(0.0, 3.0, 25)
DATA = np.sin(2 * NODES) + 0.05 * np.cos(17 * NODES)
SMOOTHING: dict[str, Any] = {
    "UnivariateSpline": lambda y, x: si.UnivariateSpline(NODES, y, s=0.05)(x),
    "UnivariateSpline, s of SciPy": lambda y, x: si.UnivariateSpline(NODES, y)(x),
    "splrep": lambda y, x: si.splev(x, si.splrep(NODES, y, s=0.05)),
    "splrep, periodic": lambda y, x: si.splev(x, si.splrep(NODES, y - y * NODES / 3, per=1)),
    "SmoothBivariateSpline": lambda y, x: si.SmoothBivariateSpline(NODES, np.cos(NODES), y).ev(
        x, x
    ),
    "RectBivariateSpline": lambda y, x: si.RectBivariateSpline(
        NODES, NODES, np.outer(y, y), s=0.05
    ).ev(x, x),
}


@pytest.mark.parametrize("name", SMOOTHING)
def test_smoothing_splines_are_constants_or_refused(name: str) -> None:
    spline, x = SMOOTHING[name], np.array([0.71])
    difference = (spline(DATA, x + 1e-5) - spline(DATA, x - 1e-5)) / 2e-5
    np.testing.assert_allclose(grad(lambda x: spline(DATA, x)[0])(x), difference, rtol=1e-6)
    with pytest.raises(MissingRuleError, match="cannot be differentiated"):
        grad(lambda y: spline(y, x)[0])(DATA)


def test_zeros_of_splines_are_refused() -> None:
    with pytest.raises(MissingRuleError, match="how many zeros there are"):
        grad(lambda y: si.UnivariateSpline(NODES, y, s=0).roots()[0])(DATA)


@pytest.mark.parametrize("x", [-1.0, 3.5, np.nan])
def test_points_without_a_value_have_no_gradient(x: float) -> None:
    def evaluated(c: Any, x: Any) -> Any:
        y = si.BSpline(np.arange(-3.0, 7.0), c, 3, extrapolate=False)(np.array([0.5, x]))
        return np.sum(np.where(np.isnan(y), 0.0, y))

    assert grad(evaluated, 1)(DATA[:6], x) == 0.0
    np.testing.assert_array_equal(grad(evaluated)(DATA[:6], x), grad(evaluated)(DATA[:6], 99.0))


GRID = np.outer(DATA, DATA)
AT_NO_POINTS: dict[str, Any] = {
    "splev": lambda x: si.splev(x[:0], si.splrep(NODES, DATA)),
    "splev of active data": lambda x: si.splev([], si.splrep(NODES, DATA * x[0])),
    "splev with a derivative": lambda x: si.splev(x[:0], si.splrep(NODES, DATA), der=1),
    "bisplev": lambda x: si.bisplev(
        x[:0], x[:0], [*si.RectBivariateSpline(NODES, NODES, GRID).tck, 3, 3]
    ),
}


@pytest.mark.parametrize("name", AT_NO_POINTS)
def test_no_points_are_refused_as_in_the_plain_call(name: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(AT_NO_POINTS[name](x)) + x[0]

    x = np.array([0.5, 1.5])
    for run in (f, grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(ValueError, match="Invalid input data"):
            run(x)


def test_data_that_are_nan_are_taken_as_in_the_plain_call() -> None:
    def f(y: Any) -> Any:
        return si.UnivariateSpline(NODES, y, s=0)(0.7) * 2.0

    y = np.where(NODES > 2, np.nan, DATA)
    assert np.isnan(f(y))
    np.testing.assert_allclose(grad(f)(y), grad(f)(DATA))  # a linear map of the data
    assert np.isnan(jvp(f, (y,), (y,))[0])


@pytest.mark.parametrize("der", [0, 1])
@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_knots_in_a_sequence(kind, der):
    knots, c = [0, 0, 0, 0, 3, 3, 3, 3], np.array([0.7, 1.3, 1.9, 0.4])

    def f(c):
        return si.splev(1.5, (kind(knots), c, 3), der=der) * 1.0

    value, dc = value_and_grad(f)(c)
    assert value == f(c)
    np.testing.assert_allclose(dc, [f(e) for e in np.eye(4)], rtol=1e-12)
    integral = grad(lambda c: si.splint(0.2, 1.5, (kind(knots), c, 3)))(c)
    expected = [si.splint(0.2, 1.5, (np.array(knots), e, 3)) for e in np.eye(4)]
    np.testing.assert_allclose(integral, expected, rtol=1e-12)
