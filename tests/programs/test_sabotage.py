"""The random programs find each way in which the engine is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.programs.sabotage import BREAKS, SECOND_BREAKS, programs_until_found
from tests.programs.second import check_second


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Callable[[Any], None]) -> None:
    assert programs_until_found(change, most=500) is not None


@pytest.mark.slow
@pytest.mark.parametrize("change", SECOND_BREAKS.values(), ids=SECOND_BREAKS)
def test_break_of_second_derivatives_is_found(change: Callable[[Any], None]) -> None:
    assert programs_until_found(change, most=500, check=check_second) is not None


@pytest.mark.thorough
def test_the_engine_as_it_is_passes() -> None:
    assert programs_until_found(lambda patch: None, most=20) is None
