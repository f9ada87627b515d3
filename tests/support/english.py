"""Phrases that do not belong in the documentation: ``python -m tests.support.english [FILE ...]``.

The code and its documentation are written in plain technical English. The phrases listed here
were once everywhere and made sentences hard to follow. Names in code may contain these words:
only comments, docstrings, other strings with spaces in them, and the text of pages are searched.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
OWN = {Path(__file__), ROOT / "tests" / "test_english.py"}

# fmt: off
PHRASES = {
    r"(?:Return|Yield|Give)s? what": "name the thing, as in 'Return the names that ...'",
    r"(?i:what (?:is|are|was|were) (?:no|not))": "as in 'operands that are not booleans'",
    r"That are": "give the sentence a subject",
    r"(?i:anew)": "again, a new ..., re-",
    r"(?i:beside)": "next to, alongside, in addition to",
    r"(?i:but for)": "except, except for",
    r"(?i:mend(?:s|ed|ing)?)": "fix, repair, correct",
    r"(?i:as (?:they|it) stands?)": "unchanged, as written",
    r"(?i:by hand)": "handwritten, manually",
    r"(?i:truths)": "booleans",
    r"(?i:texts)": "strings",
    r"(?i:serve[sd]?)": "supported, handled; or name who does what",
}
# fmt: on


PATTERN = re.compile(
    "|".join(rf"(?<![\w.`/-]){phrase}(?![\w`/(=-]|\.\w)".replace(" ", r"\s+") for phrase in PHRASES)
)
# The same without cases, punctuation and lines, which is quicker to look for.
MAYBE = (
    " return what ", " returns what ", " yield what ", " yields what ", " give what ",
    " gives what ", " what is no", " what are no", " what was no", " what were no", " anew ",
    " beside ", " but for ", " mend", " as they stand", " as it stand", " by hand ", " truths ",
    " texts ", " serve ", " serves ", " served ",
)  # fmt: skip
PARAMETER = re.compile(r"^ *\*{0,2}\w+(?:, \w+)* : .*$", re.MULTILINE)  # in docstrings: names


class Finding(NamedTuple):
    """A phrase found in a file."""

    path: Path
    line: int
    phrase: str

    def __str__(self) -> str:
        """Return the place and the phrase, and what to write in its place."""
        phrase = " ".join(self.phrase.split())
        advice = next(advice for known, advice in PHRASES.items() if re.match(known, phrase))
        return f"{self.path}:{self.line}: {phrase!r} ({advice})"


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments, those of adjacent lines together, with their first lines."""
    first, lines = 0, []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if lines and line != first + len(lines):
            yield first, "\n".join(lines)
            lines = []
        if not lines:
            first = line
        lines.append(token.string.lstrip("#!: "))
    if lines:
        yield first, "\n".join(lines)


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings, messages and other strings with spaces, with their first lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, PARAMETER.sub("", node.value)


def of_page(source: str) -> Iterator[tuple[int, str]]:
    """Yield the text of a Markdown page; of its blocks of code, only the comments."""
    lines, fenced = [], False
    for line in source.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        lines.append(line.partition("# ")[2] if fenced else line)
    yield 1, re.sub(r"`[^`\n]*`", "`", "\n".join(lines))


def of_changelog(source: str) -> Iterator[tuple[int, str]]:
    """Yield the text of the changes that are not released yet."""
    released = re.search(r"^## (?!.*Unreleased)", source, re.MULTILINE)
    yield from of_page(source[: released.start()] if released else source)


def findings(path: Path) -> Iterator[Finding]:
    """Yield the phrases found in a file."""
    source = path.read_text()
    words = f" {' '.join(re.findall('[a-z0-9_]+', source.lower()))} "
    if "That are" not in source and not any(phrase in words for phrase in MAYBE):
        return
    if path.suffix == ".py":
        blocks = [*comments(source), *strings(source)]
    elif path.name == "CHANGELOG.md":
        blocks = [*of_changelog(source)]
    else:
        blocks = [*of_page(source)]
    for first, text in blocks:
        for match in PATTERN.finditer(text):
            yield Finding(path, first + text.count("\n", 0, match.start()), match.group())


def checked_files() -> list[Path]:
    """Return the programs and pages of the repository, except those that list the phrases."""
    folders = "mooncake_py", "docs", "tests", "examples", "benchmarks", "website"
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    found = [path for path in found if path.suffix in (".py", ".md")]
    return sorted({*found, *ROOT.glob("*.md")} - OWN)


def main(arguments: list[str]) -> int:
    """Print what is found in the files, by default in all that are checked; 1 if there is any."""
    paths = [Path(argument).resolve() for argument in arguments] or checked_files()
    paths = [path for path in paths if path not in OWN]
    found = [finding for path in paths for finding in findings(path)]
    for finding in found:
        print(finding)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
