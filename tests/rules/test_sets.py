"""The rules of the family `sets`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import pytest

from tests.rules.cases import Case
from tests.rules.cases.sets import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_sets_follow_their_rules(case: Case) -> None:
    case.check()
