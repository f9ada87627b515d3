"""Short loops run as one entry, so that small programs of tests meet what long ones meet."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.sites import effort


@pytest.fixture(autouse=True)
def short_loops_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try loops however little there is to do."""
    monkeypatch.setattr(effort, "LEAST", 1)
