"""Pages that are written for GitHub work on the site."""

from __future__ import annotations

import pytest

pytest.importorskip("mkdocs")

from website.hooks import for_site

FILES = "https://git.example.org/x/blob/main"


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("index.md", "docs/solvers.md", "solvers.md"),
        ("index.md", "docs/explanation/peers.svg", "explanation/peers.svg"),
        ("index.md", "CHANGELOG.md", "changelog.md"),
        ("index.md", "LICENSE", f"{FILES}/LICENSE"),
        ("solvers.md", "utilities.md#hooks", "utilities.md#hooks"),
        ("solvers.md", "#roots", "#roots"),
        ("solvers.md", "../README.md#limits", "index.md#limits"),
        ("explanation/design.md", "../solvers.md", "../solvers.md"),
        ("explanation/design.md", "../../CONTRIBUTING.md", "../contributing.md"),
        ("explanation/design.md", "../../tests/conftest.py", f"{FILES}/tests/conftest.py"),
        ("solvers.md", "https://numpy.org", "https://numpy.org"),
    ],
)
def test_links_lead_to_pages_or_to_the_repository(page: str, link: str, expected: str) -> None:
    text = for_site(f"See [`f(x)`]({link}).", page, "https://git.example.org/x")
    assert text == f"See [`f(x)`]({expected})."


@pytest.mark.parametrize("code", ["`g[0](../x.py)`", "```python\ng[0](../x.py)\n```"])
def test_code_is_left_alone(code: str) -> None:
    assert for_site(code, "solvers.md", "") == code


def test_consoles_are_marked() -> None:
    assert for_site("```python\n>>> 1\n1\n\n```\n", "solvers.md", "").startswith("```pycon\n")
