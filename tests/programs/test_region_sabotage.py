"""The random programs find each way in which regions and statements are broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.programs import (
    array_sabotage,
    complex_sabotage,
    loop_sabotage,
    mask_sabotage,
    slice_sabotage,
)
from tests.programs.breaking import Change

Search = Callable[..., int | None]
SEARCHES: dict[str, tuple[dict[str, Change], Search]] = {
    "loops": (loop_sabotage.BREAKS, loop_sabotage.loops_until_found),
    "slices": (slice_sabotage.BREAKS, slice_sabotage.loops_until_found),
    "arrays": (array_sabotage.BREAKS, array_sabotage.loops_until_found),
    "masks": (mask_sabotage.BREAKS, mask_sabotage.masked_until_found),
    "complex": (complex_sabotage.BREAKS, complex_sabotage.complex_statements_until_found),
}
BREAKS = [
    pytest.param(change, search, id=f"{kind}-{name}")
    for kind, (breaks, search) in SEARCHES.items()
    for name, change in breaks.items()
]


@pytest.mark.slow
@pytest.mark.parametrize(("change", "search"), BREAKS)
def test_break_is_found(change: Change, search: Search) -> None:
    assert search(change) is not None


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEARCHES)
def test_programs_as_they_are_pass(kind: str) -> None:
    _, search = SEARCHES[kind]
    assert search(lambda patch: None, most=10) is None


@pytest.mark.parametrize(("change", "search"), BREAKS)
def test_break_can_be_made(change: Change, search: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        change(patch)
