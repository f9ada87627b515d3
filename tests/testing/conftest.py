"""What the tests of the testers share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from mooncake_py.errors import RuleTestError
from mooncake_py.testing import test_rule

ONLY_BASE: dict[str, Any] = {"layouts": False, "dtypes": False, "aliasing": False}


@pytest.fixture
def expect() -> Callable[..., str]:
    """Run `test_rule`, require that a check fails at a place, and return the message."""
    return expect_failure


def expect_failure(check: str, where: str, f: Any, *args: Any, rule: Any, **options: Any) -> str:
    """Run `test_rule`, require that this check fails at this place, and return the message."""
    with pytest.raises(RuleTestError) as info:
        test_rule(f, *args, rule=rule, **{**ONLY_BASE, **options})
    message = str(info.value)
    headline = message.splitlines()[0]
    assert re.search(rf"check '{check}' failed", headline), message
    assert where in headline, message
    assert re.search(r"^ +(why: +)?expected: ", message, re.M), message
    assert re.search(r"^ +got: +", message, re.M), message
    assert "  fix:   " in message, message
    return message
