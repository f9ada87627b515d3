"""The rules of the family `factorizations`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import pytest

from tests.rules.cases import Case, parameters
from tests.rules.cases.factorizations import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", parameters(cases()), ids=lambda case: case.id)
def test_factorizations_follow_their_rules(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
@pytest.mark.slow  # `test_in_programs` has them, against differences
def test_factorizations_between_writes(case: Case) -> None:
    case.check_between_writes()
