"""What tells whether loops ran as one entry."""

from __future__ import annotations

from typing import Any

import pytest

from mooncake_py.compiler.elsewhere import Elsewhere
from mooncake_py.compiler.site import Site


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each loop that is tried, in order, whether it ran as one entry."""
    results: list[bool] = []
    run = Site.run

    def noted(self: Site, ctx: Any, functions: Any, values: Any) -> Any:
        result = run(self, ctx, functions, values)
        results.append(result is not Elsewhere)
        return result

    monkeypatch.setattr(Site, "run", noted)
    return results
