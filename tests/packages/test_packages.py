"""Functions of published packages have right derivatives, or say why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packages.collected import NAMES, package
from tests.packages.page import page

PAGE = Path(__file__).parents[2] / "docs" / "packages.md"


@pytest.mark.slow
@pytest.mark.without_modes("other people's code, by finite differences")
@pytest.mark.parametrize("name", NAMES)
def test_package(name: str) -> None:
    failures = package(name).failures()
    assert not failures, "\n\n".join(failures)


@pytest.mark.slow
@pytest.mark.without_modes("a page is compared")
def test_page_says_what_is_true() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run: python -m tests.packages > docs/packages.md"
    )


@pytest.mark.slow
@pytest.mark.without_modes("counts")
def test_few_are_refused() -> None:
    cases = [case for name in NAMES for case in package(name).cases]
    assert len(cases) >= 250
    assert sum(bool(case.refused) for case in cases) <= 0.05 * len(cases)
