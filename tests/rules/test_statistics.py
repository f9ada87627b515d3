"""The rules of the family `statistics`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import pytest

from mooncake_py.testing import test_rule
from tests.rules.cases import Case
from tests.rules.cases.statistics import cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_statistics_follow_their_rules(case: Case) -> None:
    test_rule(
        case.function,
        *case.args,
        kwargs=case.kwargs,
        interface_only=case.interface_only,
        **case.options,
    )
