"""The rules of the family `averages`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import statistics

import pytest

from mooncake_py import grad, jvp
from tests.rules.cases import Case
from tests.rules.cases.averages import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_averages_follow_their_rules(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("f", [statistics.pstdev, statistics.stdev, statistics.harmonic_mean])
def test_kinks_have_a_derivative_of_zero_in_both_modes(f):
    value = 0.0 if f is statistics.harmonic_mean else 0.7

    def of_two(a):
        return f([a, value]) + a

    assert grad(of_two)(value) == 1.0
    assert jvp(of_two, (value,), (1.0,))[1] == 1.0
