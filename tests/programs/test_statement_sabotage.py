"""The random statements find each way in which statements that are one entry are broken."""

from __future__ import annotations

import pytest

from tests.programs.breaking import Change
from tests.programs.statement_sabotage import (
    BREAKS,
    IN_DEBUG_MODE,
    statement_that_finds,
    statement_that_finds_in_debug_mode,
)


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Change) -> None:
    assert statement_that_finds(change) is not None


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("change", IN_DEBUG_MODE, ids=lambda change: change.__name__)
def test_break_is_found_in_debug_mode(change: Change) -> None:
    assert statement_that_finds_in_debug_mode(change) is not None


@pytest.mark.slow
def test_statements_as_they_are_pass() -> None:
    assert statement_that_finds(lambda patch: None, most=6) is None
