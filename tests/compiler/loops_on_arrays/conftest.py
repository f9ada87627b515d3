"""All loops on arrays are worth a trial here, short ones too."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.native import printed_loop as sites


@pytest.fixture(autouse=True)
def _short_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "FEWEST", 0)


@pytest.fixture
def taken(printed: list[bool]) -> list[bool]:
    """Of each loop on arrays that is tried, in order, whether it ran as one entry."""
    return printed
