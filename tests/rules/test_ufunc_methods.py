"""The rules of the family `ufunc_methods`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import pytest

from tests.rules.cases import Case
from tests.rules.cases.ufunc_methods import cases


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_ufunc_methods_follow_their_rules(case: Case) -> None:
    case.check()
