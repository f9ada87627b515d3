"""Code is kept in a directory of each test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory."""
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path))
    return tmp_path
