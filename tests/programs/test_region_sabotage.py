"""The random programs find each way in which regions and statements are broken on purpose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.programs import (
    complex_sabotage,
    mask_sabotage,
    sabotage,
    statement_sabotage,
)
from tests.programs.breaking import Change, Search, noted_seeds

SEARCHES: dict[str, tuple[dict[str, Change], Search]] = {
    "masks": (mask_sabotage.BREAKS, mask_sabotage.masked_statement_that_finds),
    "complex": (complex_sabotage.BREAKS, complex_sabotage.complex_statement_that_finds),
}
MODULES = complex_sabotage, mask_sabotage, sabotage, statement_sabotage
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


def test_breaks_can_be_made() -> None:
    for breaks, _ in SEARCHES.values():
        for change in breaks.values():
            with pytest.MonkeyPatch.context() as patch:
                change(patch)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_only_seeds_of_breaks_are_noted(module: Any) -> None:
    path = Path(module.__file__)
    breaks = {**module.BREAKS, **getattr(module, "SECOND_BREAKS", {})}
    notes = noted_seeds(path.parent / "seeds" / f"{path.stem}.json")
    assert {key.split()[0] for key in notes} <= breaks.keys()
