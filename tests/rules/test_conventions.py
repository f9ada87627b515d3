"""The documented choices at kinks, ties, poles and branch cuts."""

from __future__ import annotations

import cmath
import math
import operator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, jvp
from mooncake_py.rules import registry
from mooncake_py.rules.clipping import clip_between
from tests.rules.cases import Case
from tests.rules.partials import cotangents

INF, NAN = math.inf, math.nan
ZERO = np.array([0.0])


def slopes(function: Any, *args: Any) -> list[Any]:
    """Return the cotangents for a cotangent of ones."""
    with np.errstate(all="ignore"):
        dy = np.ones_like(function(*args))
    return [None if g is None else g.tolist() for g in cotangents(Case(function, args), dy)]


KINKS: list[tuple[Any, tuple[Any, ...], list[Any]]] = [
    (np.absolute, (np.array([0.0, -0.0]),), [[0.0, 0.0]]),
    (np.absolute, (np.zeros(1, complex),), [[0.0]]),
    (np.sign, (np.zeros(1, complex),), [[0.0]]),
    (abs, (0.0,), [0.0]),
    (operator.abs, (0j,), [0.0]),
    (np.sqrt, (ZERO,), [[INF]]),
    (math.sqrt, (0.0,), [INF]),
    (np.cbrt, (ZERO,), [[INF]]),
    (np.log, (ZERO,), [[INF]]),
    (np.reciprocal, (ZERO,), [[-INF]]),
    (np.arcsin, (np.array([1.0, -1.0]),), [[INF, INF]]),
    (np.arccos, (np.array([1.0, -1.0]),), [[-INF, -INF]]),
    (math.asin, (1.0,), [INF]),
    (math.acos, (-1.0,), [-INF]),
    (np.arccosh, (np.array([1.0]),), [[INF]]),
    (math.acosh, (1.0,), [INF]),
    (np.hypot, (ZERO, ZERO), [[0.0], [0.0]]),
    (math.hypot, (0.0, 0.0), [0.0, 0.0]),
    (np.arctan2, (ZERO, ZERO), [[0.0], [0.0]]),
    (math.atan2, (0.0, 0.0), [0.0, 0.0]),
    (np.sinc, (ZERO,), [[0.0]]),
    (np.i0, (ZERO,), [[0.0]]),
    (np.maximum, (np.array([1.0, INF]), np.array([1.0, INF])), [[0.5, 0.5], [0.5, 0.5]]),
    (np.minimum, (np.array([1.0, -INF]), np.array([1.0, -INF])), [[0.5, 0.5], [0.5, 0.5]]),
    (np.fmax, (np.array([1.0, NAN]), np.array([NAN, 2.0])), [[1.0, 0.0], [0.0, 1.0]]),
    (np.fmin, (np.array([1.0, NAN]), np.array([NAN, 2.0])), [[1.0, 0.0], [0.0, 1.0]]),
    (np.logaddexp, (np.array([-INF, INF]), np.array([-INF, 0.0])), [[0.5, 1.0], [0.5, 0.0]]),
    (np.logaddexp, (np.array([1000.0]), np.array([-1000.0])), [[1.0], [0.0]]),
    (clip_between, (np.array([0.0, 1.0]), 0.0, 1.0), [[0.5, 0.5], 0.5, 0.5]),
    (np.copysign, (np.array([0.0, -0.0]), np.array([1.0, -1.0])), [[0.0, 0.0], [0.0, 0.0]]),
    (np.heaviside, (np.array([-1.0, 0.0, 1.0]), np.full(3, 0.5)), [[0.0] * 3, [0.0, 1.0, 0.0]]),
    (np.power, (ZERO, 0), [[0.0], None]),
    (np.power, (ZERO, 1), [[1.0], None]),
    (np.power, (ZERO, 2), [[0.0], None]),
    (np.power, (ZERO, 0.5), [[INF], 0.0]),
    (np.power, (np.zeros(3), np.array([0.0, 1.0, 2.0])), [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]),
    (np.power, (np.array([-2.0, -2.0]), np.array([3, 0])), [[12.0, 0.0], None]),
    (np.power, (np.array([-2.0]), 2.0), [[-4.0], 4 * math.log(2)]),
    (np.power, (np.zeros(1, complex), 0.5), [[INF], 0.0]),
    (np.sqrt, (np.zeros(1, complex),), [[INF]]),
    (np.arccos, (np.ones(1, complex),), [[-INF]]),
    (np.arccosh, (np.ones(1, complex),), [[INF]]),
    (cmath.sqrt, (0j,), [INF]),
    (operator.pow, (0j, 0.5), [INF, 0.0]),
    (np.power, (np.zeros(1, complex), 2), [[0.0], None]),
    (operator.pow, (0.0, 0.0), [0.0, 0.0]),
    (operator.pow, (0.0, 0.5), [INF, 0.0]),
    (operator.pow, (-2.0, 2.0), [-4.0, 4 * math.log(2)]),
    (operator.pow, (1e200, 1.2), [1.2 * 1e200**0.2, 1e200**1.2 * math.log(1e200)]),
    (math.pow, (0.0, 1.0), [1.0, 0.0]),
    (cmath.phase, (0j,), [0.0]),
    (cmath.acos, (1 + 0j,), [-INF]),
]


@pytest.mark.parametrize(
    ("function", "args", "expected"), KINKS, ids=lambda v: getattr(v, "__name__", None)
)
def test_slope_at_kink(function: Any, args: tuple[Any, ...], expected: list[Any]) -> None:
    for actual, wanted in zip(slopes(function, *args), expected, strict=True):
        if wanted is None:
            assert actual is None
        elif np.iscomplexobj(np.asarray(actual)):
            assert_allclose(np.real(actual), wanted)
        else:
            assert_allclose(actual, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [np.arcsin, np.arccos, np.arctan, np.log, np.sqrt, np.arccosh, np.arcsinh, np.arctanh],
)
@pytest.mark.parametrize("side", [0.0, -0.0])
@pytest.mark.parametrize("real", [-2.0, 2.0])
def test_slope_on_branch_cut_is_that_of_the_side(function: Any, real: float, side: float) -> None:
    z = np.array([complex(real, side)])
    if function in (np.arctan, np.arcsinh):
        z = np.array([complex(side, real)])
    inward = 1j * math.copysign(1e-6, side) if z[0].real else math.copysign(1e-6, side)
    (partial,) = registry.find(function).partials  # type: ignore[union-attr]
    expected = (function(z + inward) - function(z)) / inward
    assert_allclose(partial(z, function(z)), expected, rtol=1e-5)


def test_where_selects_even_infinite_cotangents() -> None:
    case = Case(np.where, (np.array([True, False]), np.ones(2), np.ones(2)))
    _, gx, gy = cotangents(case, np.array([1.0, np.inf]))
    assert_array_equal(gx, [1.0, 0.0])
    assert_array_equal(gy, [0.0, np.inf])


def test_clip_agrees_with_maximum_and_minimum() -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    (g, g_low, g_high) = cotangents(Case(clip_between, (x, np.zeros(5), np.ones(5))), np.ones(5))
    raised = np.maximum(x, 0)
    of_raised, of_high = cotangents(Case(np.minimum, (raised, np.ones(5))), np.ones(5))
    of_x, of_low = cotangents(Case(np.maximum, (x, np.zeros(5))), of_raised)
    assert_array_equal(g, of_x)
    assert_array_equal(g_low, of_low)
    assert_array_equal(g_high, of_high)


@pytest.mark.parametrize(("a", "b"), [(7.3, 2.0), (-7.3, 2.0), (7.3, -2.0), (-7.3, -2.0)])
def test_remainders_agree_with_their_quotient(a: float, b: float) -> None:
    for function in (np.remainder, operator.mod, np.fmod, math.fmod, math.remainder):
        y = function(a, b)
        _, db = cotangents(Case(function, (a, b)), 1.0)
        assert_allclose(a + db * b, y, rtol=1e-12)
        assert float(db).is_integer() or abs(db - round(float(db))) < 1e-12


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_ties_keep_the_precision_of_the_operands(function):
    third = 1.0 / 3.0
    shares = [p.partial(np.array([1.0, 2.0]), 1.0, None) for p in registry.find(function).partials]
    assert [share.dtype for share in shares] == [np.float64, np.float64]
    assert (third * shares[0])[0] == third * 0.5
    single = np.array([1.0, 2.0], np.float32)
    assert [p.partial(single, 1.0, None).dtype for p in registry.find(function).partials] == [
        np.float32,
        np.float32,
    ]


@pytest.mark.parametrize("z", [1e308 + 0j, 9e307 - 1.2e308j, 3e-200 + 4e-200j, 1e-310 + 0j])
def test_absolute_values_of_large_and_small_complex_numbers(z: complex) -> None:
    expected = z / abs(z)
    for f in (abs, np.abs):
        assert_allclose(grad(lambda z, f=f: f(z))(z), expected, rtol=1e-12)
        assert_allclose(jvp(f, (z,), (1.0 - 2.0j,))[1], expected.real - 2 * expected.imag)
