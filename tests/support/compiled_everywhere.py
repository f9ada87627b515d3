"""A plugin of pytest that compiles what it can: ``-p tests.support.compiled_everywhere``.

As with ``MOONCAKE_COMPILE=1``, but that compiled functions are interpreted, so that tests need no
time to compile; with ``COMPILED=llvm`` in the environment LLVM compiles them.  Tests
marked `plain` are about ways that compiled functions do not go, and are left out; so are those
marked ``without_modes(reason, "compiled")``, which compare bit for bit, say, and those of the
ways that are gone where nothing is compiled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mooncake_py import compile_mode
from mooncake_py.compiler.native import form
from tests.support.interpreted import INTERPRETED

OTHER_WAYS = Path(__file__).parents[1] / "compiler"
BY_LLVM = os.environ.get("COMPILED") == "llvm"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if is_fit(item)]


def is_fit(item: pytest.Item) -> bool:
    """Return True for a test that compiled functions pass."""
    if OTHER_WAYS in item.path.parents:
        return False
    marks = [mark.args[1:] for mark in item.iter_markers("without_modes")]
    return item.get_closest_marker("plain") is None and all(
        names and "compiled" not in names for names in marks
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, compile_mode():
        if not BY_LLVM:
            patch.setattr(form, "COMPILER", INTERPRETED)
        yield
