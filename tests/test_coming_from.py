"""The page for those who come from other tools names what exists, here and there."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mooncake_py

PAGE = (Path(__file__).parents[1] / "docs" / "coming_from.md").read_text(encoding="utf-8")
STATEMENTS = {"for", "while", "if"}
PLACEHOLDERS = {"f", "g"}  # functions of the reader's own
MODULES = {
    "jax": ("flatten_util", "test_util"),
    "autograd": ("extend", "misc", "misc.fixed_points", "numpy", "test_util"),
    "torch": ("utils.checkpoint",),
    "numba": ("typed",),
}


def rows() -> list[tuple[list[str], list[str]]]:
    """Return the code in the first two columns of the tables of names."""
    found = []
    for table in re.findall(r"^\| [\w.]+ \| here \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE):
        for line in table.splitlines():
            theirs, ours = line.split(" | ")[:2]
            found.append((re.findall(r"`([^`]+)`", theirs), re.findall(r"`([^`]+)`", ours)))
    return found


OURS = sorted({code for _, ours in rows() for code in ours} - STATEMENTS)
THEIRS = sorted({
    name
    for theirs, _ in rows()
    for code in theirs
    for name in re.findall(r"\b(?:jax|autograd|torch|numba)(?:\.\w+)+", code)
})  # fmt: skip


def value_of(name: str) -> Any:
    """Return the value of a dotted name for a user of the package."""
    first, *rest = name.split(".")
    value = {"np": np}.get(first) or getattr(mooncake_py, first, None) or getattr(builtins, first)
    for part in rest:
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("code", OURS)
def test_our_names_exist_and_take_these_arguments(code: str) -> None:
    tree = ast.parse(code, mode="eval").body
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if not calls:
        value_of(code)
    for call in calls:
        name = ast.unparse(call.func)
        if "(" in name or name in PLACEHOLDERS:
            continue  # called is what a call returned, or a function of the reader's
        function = value_of(name)
        if not isinstance(function, type):
            keywords = {keyword.arg: None for keyword in call.keywords if keyword.arg}
            inspect.signature(function).bind(*call.args, **keywords)


def test_the_tables_are_read() -> None:
    assert len(OURS) > 60
    assert len(THEIRS) > 60


@pytest.mark.parametrize("tool", MODULES)
def test_their_names_exist(tool: str) -> None:
    pytest.importorskip(tool)
    for module in MODULES[tool]:
        importlib.import_module(f"{tool}.{module}")
    for name in THEIRS:
        value: Any = importlib.import_module(tool)
        if name.partition(".")[0] == tool:
            for part in name.split(".")[1:]:
                value = getattr(value, part)
