"""Short loops run as one entry, so that small programs of tests meet what long ones meet."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.native import printed_loop


@pytest.fixture(autouse=True)
def short_loops_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try loops however little there is to do."""
    monkeypatch.setattr(printed_loop, "LEAST", 1)
    monkeypatch.setattr(printed_loop, "ENOUGH", 0)
