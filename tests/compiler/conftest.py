"""What tells whether loops ran as one entry, and golden files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mooncake_py.compiler.native.loop_site import PrintedLoopSite
from mooncake_py.compiler.native.printed_loop import PrintedLoop
from mooncake_py.compiler.sites.elsewhere import Elsewhere


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each loop that is tried, in order, whether it ran as one entry."""
    results: list[bool] = []
    run = PrintedLoop.run

    def noted(self: PrintedLoop, *args: Any) -> Any:
        result = run(self, *args)
        results.append(result is not Elsewhere)
        return result

    monkeypatch.setattr(PrintedLoop, "run", noted)
    return results


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each loop on arrays that is tried as text of NumPy, in order, whether it ran as that."""
    results: list[bool] = []
    run = PrintedLoopSite.run_whole

    def noted(self: PrintedLoopSite, *args: Any) -> Any:
        result = run(self, *args)
        results.append(result is not Elsewhere)
        return result

    monkeypatch.setattr(PrintedLoopSite, "run_whole", noted)
    return results


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """What compares a text with that of a file, or writes it if `--update-golden` is given."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"{path} is missing: run pytest with --update-golden"
        assert text == path.read_text()

    return check
