"""The rules of the family `contraction`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import pytest

from tests.rules.cases import Case, parameters
from tests.rules.cases.contraction import cases


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", parameters(cases()), ids=lambda case: case.id)
def test_contraction_follow_their_rules(case: Case) -> None:
    case.check()
