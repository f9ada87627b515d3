"""What does not fit a window, or cannot be loaded, is seen in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from website.browser import Tab, browser, executable
from website.look import defects, served

PAGE = '<!doctype html><link rel="icon" href="data:,"><article>{}</article>'


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    path = executable()
    if path is None:
        pytest.skip("there is no Chromium")
    with browser(path, limit=60) as opened:
        yield opened


def seen(tab: Tab, site: Path, article: str) -> list[str]:
    """Return the defects of a page with this text."""
    (site / "index.html").write_text(PAGE.format(article))
    with served(site) as home:
        return list(defects(tab, home, ""))


@pytest.mark.parametrize(
    "article",
    [
        "text " * 1000,
        '<pre style="overflow: auto">' + "x" * 1000 + "</pre>",
        "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>\">",
    ],
)
def test_good_pages_pass(tab: Tab, tmp_path: Path, article: str) -> None:
    assert seen(tab, tmp_path, article) == []


@pytest.mark.parametrize(
    ("article", "message"),
    [
        ('<p style="width: 800px">wide', "does not fit 390 pixels: P wide"),
        ('<p style="width: 1800px">wide', "does not fit 1400 pixels: P wide"),
        ('<img src="missing.png">', "has a picture that cannot be shown"),
        ("<script>nothing()</script>", "has an error in a script"),
        ('<script src="missing.js"></script>', "has an error"),
        ('<script src="http://elsewhere.invalid/x.js"></script>', "asks another host"),
    ],
)
def test_bad_pages_are_seen(tab: Tab, tmp_path: Path, article: str, message: str) -> None:
    assert any(defect.startswith(message) for defect in seen(tab, tmp_path, article))
