"""No public name of NumPy is left out, and docs/coverage.md says what is true."""

from __future__ import annotations

from pathlib import Path

from tests.coverage.classification import UNKNOWN, entries
from tests.coverage.names import SECTIONS
from tests.coverage.page import header, page
from tests.coverage.reasons import REASONS, UNSUPPORTED

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


def test_every_public_name_is_supported_or_has_a_reason() -> None:
    unknown = [f"{entry.section}.{entry.name}" for entry in entries() if entry.status == UNKNOWN]
    assert unknown == [], (
        "write a rule or a case for each of these, or a reason in tests/coverage/reasons.py"
    )


def test_page_says_what_is_true() -> None:
    written = PAGE.read_text()
    if header() in written:
        assert written == page(), "run: python -m tests.coverage > docs/coverage.md"


def test_reasons_are_of_names_that_numpy_has_or_had() -> None:
    """A name that no section could have is a misprint."""
    for name in (*REASONS, *UNSUPPORTED):
        assert name.rpartition(".")[0] in SECTIONS, name
