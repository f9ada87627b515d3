"""The documentation is in plain English: see `tests.support.english`."""

from pathlib import Path

from tests.support.english import checked_files, findings

PROGRAM = '''"""Return what a loop needs."""

beside = "anew"  # mend it


def served(texts):
    """Return a list.

    Parameters
    ----------
    texts : list of str
        As they stand, for what
        is no number.
    """
    raise ValueError(f"{texts} of "
                     "truths, but for one")
'''
PAGE = """# A page

It serves `texts`, not [texts](by.md#by-hand).

```python
>>> texts = anew(texts)  # That are strings
```
"""


def found_in(source: str, path: Path) -> list[tuple[int, str]]:
    path.write_text(source)
    return [(finding.line, " ".join(finding.phrase.split())) for finding in findings(path)]


def test_documentation_has_none_of_the_phrases() -> None:
    found = [str(finding) for path in checked_files() for finding in findings(path)]
    assert found == []


def test_phrases_are_found_in_comments_and_strings_of_prose(tmp_path: Path) -> None:
    assert sorted(found_in(PROGRAM, tmp_path / "program.py")) == [
        (1, "Return what"), (3, "mend"), (12, "As they stand"), (12, "what is no"),
        (15, "but for"), (15, "truths"),
    ]  # fmt: skip


def test_phrases_are_found_in_pages_but_not_in_their_code(tmp_path: Path) -> None:
    assert found_in(PAGE, tmp_path / "page.md") == [(3, "serves"), (3, "texts"), (6, "That are")]


def test_released_changes_stay_as_they_are(tmp_path: Path) -> None:
    log = "# Changelog\n\n## Unreleased\n\n- Beside it.\n\n## 0.1.0\n\n- Anew.\n"
    assert found_in(log, tmp_path / "CHANGELOG.md") == [(5, "Beside")]
