"""The random loops find each way in which loops on slices are broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.programs.slice_sabotage import BREAKS, loops_until_found


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Callable[[Any], None]) -> None:
    assert loops_until_found(change) is not None


@pytest.mark.slow
def test_loops_as_they_are_pass() -> None:
    assert loops_until_found(lambda patch: None, most=10) is None


@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_can_be_made(change: Callable[[Any], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        change(patch)
