"""Links of the built site that lead nowhere are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from website.links import FILES, defects


def defects_of(site: Path, body: str) -> list[str]:
    """Return the defects of a site of two pages, the first one with this text."""
    (site / "there").mkdir()
    (site / "there" / "index.html").write_text('<h1 id="top">There</h1>')
    (site / "picture.svg").write_text("<svg/>")
    (site / "index.html").write_text(body)
    return list(defects(site))


@pytest.mark.parametrize(
    "element",
    [
        '<a href="there/">',
        '<a href="there/#top">',
        '<a href="#here" id="here">',
        '<img src="picture.svg">',
        f'<a href="{FILES}LICENSE">',
        '<a href="https://numpy.org">',
        '<link rel="stylesheet" href="picture.svg">',
    ],
)
def test_good_links_pass(tmp_path: Path, element: str) -> None:
    assert defects_of(tmp_path, element) == []


@pytest.mark.parametrize(
    "element",
    [
        '<a href="nowhere/">',
        '<a href="there/#bottom">',
        '<a href="#here">',
        '<img src="missing.svg">',
        f'<a href="{FILES}MISSING">',
        '<a href="http://numpy.org">',
        '<script src="https://cdn.example.org/x.js">',
        '<link rel="stylesheet" href="https://fonts.example.org/x.css">',
    ],
)
def test_bad_links_are_found(tmp_path: Path, element: str) -> None:
    assert len(defects_of(tmp_path, element)) == 1
