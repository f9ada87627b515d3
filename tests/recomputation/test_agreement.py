"""Whether another run of a function found the same, to rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py.errors import NestedDerivativeError
from mooncake_py.recomputation.agreement import Fingerprint, Runs, distance

LARGE = 1.7e308
ARRAYS = {
    "numbers": np.array([1.0, 2.0]),
    "large": np.array([LARGE, LARGE]),
    "infinite": np.array([np.inf, 1.0]),
    "nan": np.array([np.nan, np.inf]),
    "complex": np.array([LARGE + LARGE * 1j]),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_the_same_values_match(array):
    assert Fingerprint(array).matches(Fingerprint(array.copy()))


def test_other_values_do_not():
    numbers = Fingerprint(ARRAYS["numbers"])
    for name in ("large", "infinite", "nan", "complex"):
        assert not numbers.matches(Fingerprint(ARRAYS[name]))
    assert not numbers.matches(Fingerprint(ARRAYS["numbers"] + 1e-6))
    assert numbers.matches(Fingerprint(ARRAYS["numbers"] + 1e-12))


def test_distances_overflow_to_infinity():
    """`abs` of a complex number raises, at times because of what ran before it."""
    assert distance(3.0, 4.0j) == 5.0
    assert distance(complex(LARGE, LARGE), complex(-LARGE, 0.0)) == math.inf


def test_where_terms_cancel_rounding_is_no_other_result():
    # As of a gradient at a minimum, by two ways.
    g, other, slopes = np.full(3, 1e-12), np.full(3, 1.5e-12), np.eye(3)
    runs = Runs(math.sin)
    runs.agree(g)
    runs.agree(other, slopes, (np.ones(3),))
    with pytest.raises(NestedDerivativeError, match="another result"):
        runs.agree(other)
    with pytest.raises(NestedDerivativeError, match="another result"):
        runs.agree(np.full(3, 1e-6), slopes, (np.ones(3),))
