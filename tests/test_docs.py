"""What the documentation says of the project is true."""

import re
import tomllib
from pathlib import Path

import pytest

import mooncake_py

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def headings(page: Path) -> set[str]:
    """Return the anchors of a page as they are made from its headings."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), target
        if anchor:
            assert anchor in headings(linked), target


def test_reference_lists_the_public_names() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)", row)}
    modules = {path.stem for path in (ROOT / "mooncake_py").iterdir()}
    public = {name for name in dir(mooncake_py) if not name.startswith("_") and name not in modules}
    assert listed == public


def test_cheat_sheet_fits_on_a_page_and_names_what_exists() -> None:
    lines = (ROOT / "docs" / "cheat_sheet.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 100  # printed at 8 points by docs/assets/site.css
    assert max(len(line) for line in lines if line.startswith((">>>", "..."))) <= 92
    errors = [name for line in lines for name in re.findall(r"`(\w+Error)`", line)]
    assert len(errors) >= 10
    assert all(hasattr(mooncake_py, name) for name in errors)


def test_feature_table_has_a_test_or_a_reason_in_each_row() -> None:
    text = (ROOT / "docs" / "feature_table.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if row[0].strip() != "feature"]
    assert len(rows) > 50
    for _, here, page, test in rows:
        assert ".md" in page
        assert "(../tests/" in test or here.startswith("*refused:*"), here


def test_overview_of_limitations_has_a_line_for_each() -> None:
    text = (ROOT / "docs" / "known_limitations.md").read_text(encoding="utf-8")
    overview, _, details = text.partition("\n## Derivatives\n")
    linked = set(re.findall(r"\]\(#([\w-]+)\)", overview))
    anchors = {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^### (.+)$", details, flags=re.MULTILINE)
    }
    assert len(anchors) > 30
    assert anchors <= linked
    rows = [line for line in overview.splitlines() if line.startswith("| [")]
    assert max(len(re.sub(r"\]\([^)]*\)", "", row)) for row in rows) <= 150


def test_nothing_says_to_install_what_has_no_release() -> None:
    """Before there is a release, `pip install mooncake_py` installs nothing of ours."""
    sources = [*PAGES, *ROOT.glob("mooncake_py/**/*.py")]
    wrong = re.compile(r"pip install ['\"]?mooncake_py")
    assert [path for path in sources if wrong.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("name", ["example", "test"])
def test_readme_commands_make_their_environment(name: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- command: {name} -->\n```sh\n(.+)\n```\n", text)
    assert found is not None
    command = found[1]
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    extras = re.findall(r'"\.\[(\w+)\]"', command)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(extras) == 1
    assert set(extras) <= set(project["optional-dependencies"])
    for script in re.findall(r"\S+\.py", command):
        assert (ROOT / script).exists()
