"""Some program of the corpus finds each line that is broken on purpose.

Of passes, printers, and the way into loops and out of them.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mooncake_py.compiler.native import lowering, numpy_text, sweeps
from mooncake_py.runtime.compilation import is_installed
from tests.programs import loop_sabotage, pass_sabotage
from tests.programs.breaking import Change, Search, noted_seeds, path_of
from tests.programs.line_breaks import break_line

TABLES = loop_sabotage, pass_sabotage
LINES = loop_sabotage.LINES | pass_sabotage.LINES
BREAKS = [
    pytest.param(change, table.program_that_finds, id=name)
    for table in TABLES
    for name, change in table.BREAKS.items()
]
pytestmark = pytest.mark.plain
compiles = pytest.mark.skipif(not is_installed(), reason="some breaks are of compiled text")


def test_breaks_can_be_made() -> None:
    for line in LINES.values():
        with pytest.MonkeyPatch.context() as patch:
            break_line(patch, line)


def test_the_lines_are_as_they_were_afterwards() -> None:
    line = LINES["nothing_is_saved"]
    function = line.module.Needs.assigned
    before = function.__code__
    with pytest.MonkeyPatch.context() as patch:
        break_line(patch, line)
        assert function.__code__ is not before
    assert function.__code__ is before


@compiles
@pytest.mark.sampled(20)
@pytest.mark.parametrize(("change", "search"), BREAKS)
def test_break_is_found(change: Change, search: Search) -> None:
    assert search(change) is not None


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_each_break_is_found_or_listed(table: Any) -> None:
    (change, *_) = table.BREAKS.values()
    assert {*noted_seeds(path_of(change))} == {*table.BREAKS}
    assert {*table.BREAKS, *table.HARMLESS, *table.OPEN} == {*table.LINES}


@pytest.mark.parametrize("room", [lowering, numpy_text, sweeps])
def test_each_file_is_broken_somewhere(room: ModuleType) -> None:
    (path,) = room.__path__
    broken = {Path(line.module.__file__ or "") for line in LINES.values()}
    assert {*Path(path).glob("[!_]*.py")} <= broken


@compiles
@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_programs_as_they_are_pass(table: Any) -> None:
    for seed in range(20):
        table.compare_in_search(seed)
