"""What tells whether loops ran as one entry."""

from __future__ import annotations

from typing import Any

import pytest

from mooncake_py.forms.fusion import Elsewhere
from mooncake_py.forms.loops.run import Loop


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each loop that is tried, in order, whether it ran as one entry."""
    results: list[bool] = []
    run = Loop.run

    def noted(self: Loop, ctx: Any, functions: Any, values: Any) -> Any:
        result = run(self, ctx, functions, values)
        results.append(result is not Elsewhere)
        return result

    monkeypatch.setattr(Loop, "run", noted)
    return results
