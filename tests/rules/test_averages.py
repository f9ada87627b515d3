"""What the cases of the family `averages` do not show."""

from __future__ import annotations

import statistics

import pytest

from mooncake_py import grad, jvp


@pytest.mark.parametrize("f", [statistics.pstdev, statistics.stdev, statistics.harmonic_mean])
def test_kinks_have_a_derivative_of_zero_in_both_modes(f):
    value = 0.0 if f is statistics.harmonic_mean else 0.7

    def of_two(a):
        return f([a, value]) + a

    assert grad(of_two)(value) == 1.0
    assert jvp(of_two, (value,), (1.0,))[1] == 1.0
