"""The page on SciPy lists the functions that have rules, no more and no fewer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mooncake_py.rules.coverage import entries
from mooncake_py.rules.optional import import_installed

pytest.importorskip("scipy")

PAGE = Path(__file__).parents[1] / "docs" / "scipy.md"


def with_rules() -> dict[str, set[str]]:
    """Return the public names of SciPy's functions with rules, by module."""
    import_installed()
    found: dict[str, set[str]] = {}
    for entry in entries():
        module, _, name = entry.name.rpartition(".")
        parts = entry.family.split(".")
        is_solver = (
            parts[:2] == ["scipy", "solvers"] and parts[-1] != "iterations"
        )  # docs/solvers.md
        is_listed = parts[0] == "scipy" and module[:5] == "scipy" and not is_solver
        if is_listed and "._" not in entry.name:  # methods are in the text
            found.setdefault(module, set()).add(name)
    return found


def listed() -> dict[str, set[str]]:
    """Return the same as the page has it: rows ``| `module` | `name`, ... |``."""
    rows = re.findall(r"^\| `(scipy[.\w]*)` \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return {module: set(re.findall(r"`(\w+)`", names)) for module, names in rows}


def test_page_lists_the_functions_with_rules() -> None:
    assert listed() == with_rules()
