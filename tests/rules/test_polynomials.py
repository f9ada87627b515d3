"""The rules of the family `polynomials`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import pytest

from tests.rules.cases import Case
from tests.rules.cases.polynomials import FAMILIES, common_cases, family_cases
from tests.support.marks import each_third

POWERS, CHEBYSHEV, *OTHERS = map(family_cases, FAMILIES)
FAST = [*common_cases(), *POWERS, *CHEBYSHEV]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", each_third(FAST), ids=lambda case: case.id)
def test_polynomials_follow_their_rules(case: Case) -> None:
    case.check()


@pytest.mark.slow  # NumPy's code is much that of the Chebyshev polynomials
@pytest.mark.parametrize("case", [case for cases in OTHERS for case in cases], ids=str)
def test_other_polynomials_follow_their_rules(case: Case) -> None:
    case.check()
