"""The pages of the API describe each public name once."""

import re
from collections import Counter
from pathlib import Path

import mooncake_py
from mooncake_py import testing

ROOT = Path(__file__).parents[1]


def test_each_public_name_is_described_once() -> None:
    pages = [page.read_text("utf-8") for page in (ROOT / "docs" / "api").glob("*.md")]
    described = Counter(re.findall(r"^::: ([\w.]+)$", "\n".join(pages), re.MULTILINE))
    modules = {path.stem for path in (ROOT / "mooncake_py").iterdir()}
    here = {name for name in mooncake_py.__all__ if name not in modules}
    there = {name for name, value in vars(testing).items() if callable(value)}
    public = {f"mooncake_py.{name}" for name in here - there}
    public |= {f"mooncake_py.testing.{name}" for name in there}
    assert not {name for name, count in described.items() if count > 1}
    assert not public - set(described)
