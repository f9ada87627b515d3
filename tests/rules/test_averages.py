"""The rules of the family `averages`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import pytest

from tests.rules.cases import Case
from tests.rules.cases.averages import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_averages_follow_their_rules(case: Case) -> None:
    case.check()
