"""Command line: `python -m tests.coverage > docs/coverage.md`."""

from __future__ import annotations

from tests.coverage.page import page

print(page(), end="")
