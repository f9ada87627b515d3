"""Debug mode names the first adjoint that turns finite cotangents into nan or infinity."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    debug_mode,
    from_vjp,
    grad,
    rrule,
    vjp,
)
from mooncake_py.errors import MooncakeError, NonFiniteDerivativeError

X = np.array([0.0, 1.0, 4.0])


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def scaled_root(x):
    y = 2.0 * x
    z = np.sqrt(y)
    return np.sum(3.0 * z)


def reciprocal(x):
    y = 1.0 / x
    return np.sum(np.where(np.isfinite(y), 0.0, 1.0) * y)


def quotient(x):
    return np.sum(x / (x - 1.0))


def product_with_infinity(x):
    return np.sum(x * np.array([1.0, np.inf, 1.0]))


def product_with_nan(x):
    return np.sum(np.array([1.0, np.nan, 1.0]) * x)


def late_mask(x):
    return np.sum(np.where(x > 0, x, 1.0) + 0.5 * np.sqrt(x))


def logarithm(x):
    return np.log(x)[0] * 1e-3


def powers(x):
    return np.sum(x**0.5)


def in_place(x):
    x *= 2
    np.sqrt(x, out=x)
    return np.sum(x)


def masked(x):
    out = np.zeros(3)
    np.sqrt(x, out=out, where=x < 2)
    return np.sum(out)


def overflow(x):
    return np.sum(np.exp(700.0 + x * 0) * np.array([1.0, 1e10, 1.0]))


def of_a_float(x):
    return math.sqrt(x[0]) + x[1]


def of_an_element(x):
    s = 0.0
    for i in range(3):
        s += np.sqrt(x[i]) * 2.0
    return s


def scaled_in_place(x):
    x *= np.array([1.0, np.inf, 1.0])
    return np.sum(x)


def root_of(x):
    return np.sqrt(x)


@from_vjp(root_of)
def root_rule(x):
    y = np.sqrt(x)
    return y, lambda dy: (dy / (2 * y),)


def user_rule(x):
    return np.sum(root_of(x))


def inner(x):
    return np.sqrt(x)


def called(x):
    y = inner(x)
    return np.sum(y)


@pytest.mark.parametrize(
    ("f", "operation", "line"),
    [
        (scaled_root, "numpy.sqrt", "z = np.sqrt(y)"),
        (reciprocal, "divide", "y = 1.0 / x"),
        (quotient, "divide", "return np.sum(x / (x - 1.0))"),
        (product_with_infinity, "multiply", "return np.sum(x * "),
        (product_with_nan, "multiply", "return np.sum(np.array"),
        (late_mask, "numpy.sqrt", "return np.sum(np.where"),
        (logarithm, "numpy.log", "return np.log(x)"),
        (powers, "power", r"return np.sum(x**0.5)"),
        (in_place, "numpy.sqrt", "np.sqrt(x, out=x)"),
        (masked, "numpy.sqrt", "np.sqrt(x, out=out, where=x < 2)"),
        (overflow, "numpy.exp", "return np.sum(np.exp("),
        (of_a_float, "math.sqrt", "return math.sqrt(x[0])"),
        (of_an_element, "numpy.sqrt", "s += np.sqrt(x[i])"),
        (scaled_in_place, "multiply in place", "x *= np.array"),
        (user_rule, "root_of", "return np.sum(root_of(x))"),
        (called, "numpy.sqrt", "return np.sqrt(x)"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_first_adjoint_that_is_not_finite(f: Any, operation: str, line: str) -> None:
    x = X.copy()
    with pytest.raises(NonFiniteDerivativeError) as caught:
        grad(f, debug=True)(x)
    text = str(caught.value)
    assert re.match(rf"the adjoint of \S*{re.escape(operation)} made", text)
    assert re.search(rf"where: .*test_finite\.py:\d+:\d+ in \w+\n +\| {re.escape(line)}", text)
    assert re.search(r"cotangent after: .*(inf|nan|not finite)", text)
    np.testing.assert_array_equal(x, X)
    with debug_mode(check_finite=False):
        g = grad(f)(x)
    np.testing.assert_array_equal(g, grad(f)(x))
    assert not np.isfinite(g).all()


def test_message_shows_what_went_in() -> None:
    with pytest.raises(NonFiniteDerivativeError) as caught:
        grad(scaled_root, debug=True)(X)
    error = caught.value
    assert isinstance(error, FloatingPointError)
    assert isinstance(error, MooncakeError)
    assert "cotangent before: float64[3] [3. 3. 3.]" in error.why
    assert "inf" in error.why
    assert error.where is not None
    assert error.where.function == "scaled_root"


def test_message_about_large_arrays_gives_their_range() -> None:
    x = np.linspace(0.0, 4.0, 50)
    with pytest.raises(NonFiniteDerivativeError) as caught:
        grad(scaled_root, debug=True)(x)
    assert "float64[50], from 3 to 3" in caught.value.why
    assert "1 not finite, first [0] = inf" in caught.value.why
    assert "1 zero" in caught.value.why


# What is finite, although a factor is not.


def masked_log(x):
    return np.sum(np.where(x > 0, np.log(x), 0.0))


def zero_times_root(x):
    return np.sum(0.0 * np.sqrt(x)) + np.sum(x)


def angle_at_the_origin(x):
    return np.arctan2(x[0], 0.0 * x[0])


def norm_of_zero(x):
    return np.linalg.norm(0 * x)


def distance(x):
    return np.hypot(x[0], x[0]) + abs(x[0])


def unused_infinity(x):
    y = 1.0 / x
    y[0] = x[1]
    return np.sum(y)


def infinite_constants(x):
    return min(np.inf, np.sum(x)) + np.sum(np.minimum(x, np.inf))


def fields_of_other_things(x):
    p = np.zeros(2, [("own", object), ("name", "U3"), ("mass", float)])
    p["mass"] = x[:2]
    p[0]["own"] = [1]
    p["name"][1] = "abc"
    return p[0]["mass"] * p[1]["mass"]


@pytest.mark.parametrize(
    "f",
    [masked_log, zero_times_root, angle_at_the_origin, norm_of_zero, distance, unused_infinity,
     infinite_constants, fields_of_other_things],
)  # fmt: skip
def test_finite_gradients_pass(f: Callable[[Any], Any]) -> None:
    g = grad(f, debug=True)(X)
    assert np.isfinite(g).all()
    np.testing.assert_array_equal(g, grad(f)(X))


# Numbers that were not finite before are nobody's fault.


def test_seed_that_is_not_finite() -> None:
    with debug_mode():
        _, pullback = vjp(lambda x: 2.0 * np.sqrt(x + 1.0), X)
    (g,) = pullback(np.array([np.inf, 1.0, 1.0]))
    assert np.isinf(g[0])
    assert np.isfinite(g[1:]).all()


def test_fdata_that_are_not_finite() -> None:
    def f(x):
        x *= 2.0
        return np.sum(x)

    dx = np.zeros(3)
    with debug_mode():
        _, pullback = rrule(CoDual(f, NoFData()), CoDual(X.copy(), dx))
        dx[1] = np.nan
        pullback(1.0)
    np.testing.assert_array_equal(dx, [2.0, np.nan, 2.0])


def test_the_first_of_two_is_named() -> None:
    def f(x):
        y = np.sqrt(x)
        z = y**0.5
        return np.sum(z)

    with pytest.raises(NonFiniteDerivativeError, match=r"\| z = y\*\*0\.5"):
        grad(f, debug=True)(X)


def test_nan_argument() -> None:
    with pytest.raises(NonFiniteDerivativeError, match=r"adjoint of numpy\.sin"):
        grad(lambda x: np.sum(np.sin(x)), debug=True)(np.array([1.0, np.nan]))
