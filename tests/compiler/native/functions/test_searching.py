"""Searches in compiled code give NumPy's results, in tables that are not sorted too."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.errors import MissingRuleError

pytestmark = pytest.mark.plain


def interpolated(x, xp, fp):
    return np.interp(x, xp, fp)


def interpolated_first(x, xp, fp):
    return np.interp(x, xp, fp)[0]


def counted(x, xp, fp):
    return np.searchsorted(xp, x) * fp[0] * 1.0


def counted_last(x, xp, fp):
    return np.searchsorted(xp, x, side="right")[1] * fp[0] * 1.0


def check(f, x, xp, fp) -> None:
    """Compare with the plain call and, as functions are linear in them, with other values."""
    compiled, gradient = value_and_grad(f, 2, compile=True)(x, xp, fp)
    np.testing.assert_equal(compiled, f(x, xp, fp))
    expected = [f(x, xp, row) for row in np.eye(xp.size)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)


def refused(f, x, xp, fp) -> bool:
    """Return whether no derivative is given, in both ways."""
    for compile in (False, True):
        with pytest.raises(MissingRuleError, match="xp is not increasing"):
            value_and_grad(f, 2, compile=compile)(x, xp, fp)
    return True


@pytest.mark.parametrize("sorted_table", [True, False])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 11, 14])
def test_places_are_those_of_numpy(n: int, sorted_table: bool) -> None:
    random = np.random.default_rng(n)
    for _ in range(8):
        xp, fp = random.standard_normal((2, n))
        if sorted_table:
            xp.sort()
        x = random.standard_normal(3)
        for f in (interpolated, counted):
            check(f, float(x[0]), xp, fp)
        check(counted_last, x, xp, fp)
        if sorted_table or np.all(xp[1:] >= xp[:-1]):
            check(interpolated_first, x, xp, fp)
        else:
            assert refused(interpolated_first, x, xp, fp)


@pytest.mark.parametrize("ties", [1, 2])
def test_the_value_at_a_point_is_its_own(ties: int) -> None:
    """It is not the end of the slope before it, which is rounded."""
    random = np.random.default_rng(ties)
    for n in range(2, 9):
        xp, fp = np.sort(random.standard_normal(n)), random.standard_normal(n)
        xp[-ties:] = xp[-1]
        for x in xp:
            check(interpolated, float(x), xp, fp)


@pytest.mark.parametrize("odd", [np.inf, -np.inf, 1e308, np.nan])
def test_tables_with_odd_numbers(odd: float) -> None:
    random = np.random.default_rng(5)
    for k in range(12):
        xp, fp = random.standard_normal((2, 4))
        (xp, fp)[k % 2][k % 4] = odd
        xp.sort()
        x = float(xp[random.integers(4)] + random.integers(2))
        with np.errstate(all="ignore"):
            value = interpolated(x, xp, fp)
            compiled, _ = value_and_grad(interpolated, compile=True)(x, xp, fp)
        np.testing.assert_equal(compiled, value)
