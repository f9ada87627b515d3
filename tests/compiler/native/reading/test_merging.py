"""Arrays that the sides of a branch rebind or return, in compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain

X = np.array([0.3, -0.4, 0.8, 0.5])


def bound_on_both_sides(x, a):
    if a > 0.5:
        y = x * a
        z = y[1:] * 1.0
    else:
        y = np.sin(x)
        z = x[:-1] * 2.0
    y[0] = z[0] * a
    return y @ x + np.sum(z)


def bound_on_one_side(x, a):
    y = x * 2.0
    if a > 0.5:
        y = y * y
    y[1] *= a
    if x[1] > a:
        x = np.abs(x)
    return y @ x


def in_a_loop(x, a):
    y = x * 1.0
    for i in range(4):
        if x[i] > 0.4:
            y = y * a
        else:
            y = y + x[i]
        if i == 2:
            z = y * 2.0
        else:
            z = y - 1.0
        a = a + z[i]
    return np.sum(y * y) + a


def chosen(x, a):
    if a > 0.5:
        return x * a, a
    y = np.zeros(4)
    y[1] = x[0]
    return y, 2.0 * a


def given_back(x, a):
    y, s = chosen(x, a)
    z = checked(y, s)
    return z @ x + s


def checked(y, s):
    if s > 100.0:
        raise ValueError("too large")
    w = y * y
    if s < -100.0:
        raise ValueError("too small")
    return w + s


def written_under_another_name(x, a):
    y = x
    if a > 0.5:
        y = x * 2.0
    x[0] = 5.0
    return y @ x


def written_under_its_own(x, a):
    if a > 0.5:
        x = x * 2.0
    x[0] = 5.0 * a
    return x @ x


def view_of_what_changes(x, a):
    y = x * 1.0
    z = y[1:]
    if a > 0.5:
        y = y * 2.0
    z[0] = 7.0 * a
    return y @ x


def of_two_shapes(x, a):
    y = x[1:] * 2.0 if a > 9.0 else x * 1.0  # noqa: F841
    if a > 0.5:
        z = x[1:] * a
    else:
        z = x * a
    return np.sum(z)


COMPILED = [bound_on_both_sides, bound_on_one_side, in_a_loop, given_back]
REFUSED = [
    written_under_another_name, written_under_its_own, view_of_what_changes, of_two_shapes,
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("a", [0.9, 0.2])
@pytest.mark.parametrize("f", COMPILED + REFUSED, ids=lambda f: f.__name__)
def test_every_mode(f: Any, a: float, tried: list[bool]) -> None:
    along = np.cos(X), 0.3
    x = X.copy()
    value, g = value_and_grad(f, (0, 1), compile=True)(x, a)
    expected, h = value_and_grad(f, (0, 1))(X.copy(), a)
    np.testing.assert_array_equal(x, X)
    assert_allclose(value, expected, rtol=1e-12)
    for p, q in zip(g, h, strict=True):
        assert_allclose(p, q, rtol=1e-10, atol=1e-13)
    found = jvp(f, (X.copy(), a), along, compile=True)
    assert_allclose(found, jvp(f, (X.copy(), a), along), rtol=1e-10)
    second = hvp(f, (X.copy(), a), along, (0, 1), compile=True)
    for p, q in zip(second, hvp(f, (X.copy(), a), along, (0, 1)), strict=True):
        assert_allclose(p, q, rtol=1e-9, atol=1e-12)
    assert (report(f)[0].found == "compiled") == (f in COMPILED), report(f)
