"""The random statements find each way in which statements that are one entry are broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.programs.statement_sabotage import BREAKS, UNSEEN, statements_until_found
from tests.programs.test_random_statements import check_in_debug_mode


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Callable[[Any], None]) -> None:
    assert statements_until_found(change, most=500) is not None


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("name", sorted(BREAKS.keys() - UNSEEN)[::4])
def test_break_is_found_in_debug_mode(name: str) -> None:
    assert statements_until_found(BREAKS[name], check=check_in_debug_mode) is not None


@pytest.mark.slow
def test_statements_as_they_are_pass() -> None:
    assert statements_until_found(lambda patch: None, most=6) is None
