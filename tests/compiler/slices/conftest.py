"""All loops on slices are worth a trial here, short ones too."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.slices import site


@pytest.fixture(autouse=True)
def _short_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "FEWEST", 0)
