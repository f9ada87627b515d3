"""The random programs find each way in which the engine is broken on purpose."""

from __future__ import annotations

import pytest

from tests.programs.breaking import Change
from tests.programs.sabotage import (
    BREAKS,
    SECOND_BREAKS,
    program_that_finds,
    program_that_finds_second,
)


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Change) -> None:
    assert program_that_finds(change, most=500) is not None


@pytest.mark.slow
@pytest.mark.parametrize("change", SECOND_BREAKS.values(), ids=SECOND_BREAKS)
def test_break_of_second_derivatives_is_found(change: Change) -> None:
    assert program_that_finds_second(change, most=500) is not None


@pytest.mark.thorough
def test_the_engine_as_it_is_passes() -> None:
    assert program_that_finds(lambda patch: None, most=20) is None
