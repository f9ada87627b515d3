"""Some program of the corpus finds each way in which passes and printers are broken on purpose."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from mooncake_py.compiler.native import lowering, numpy_text, sweeps
from mooncake_py.runtime.compilation import is_installed
from tests.programs.breaking import Change, noted_seeds, path_of
from tests.programs.line_breaks import break_line
from tests.programs.pass_sabotage import (
    BREAKS,
    HARMLESS,
    LINES,
    OPEN,
    compare_in_search,
    program_that_finds,
)

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
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Change) -> None:
    assert program_that_finds(change) is not None


def test_each_break_is_found_or_listed() -> None:
    (change, *_) = BREAKS.values()
    assert {*noted_seeds(path_of(change))} == {*BREAKS}
    assert {*BREAKS, *HARMLESS, *OPEN} == {*LINES}


@pytest.mark.parametrize("room", [lowering, numpy_text, sweeps])
def test_each_file_is_broken_somewhere(room: ModuleType) -> None:
    (path,) = room.__path__
    broken = {Path(line.module.__file__ or "") for line in LINES.values()}
    assert {*Path(path).glob("[!_]*.py")} <= broken


@compiles
@pytest.mark.slow
def test_programs_as_they_are_pass() -> None:
    for seed in range(20):
        compare_in_search(seed)
