"""No phase of compiling a gradient takes more than time in proportion to the program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from benchmarks.compile_time import PROGRAMS, Phases, Program, function

GROWTH = 1.3
"""The most by which the number of calls for each statement grows in a program twice as long."""

ALWAYS = 2000
"""Calls that any program may take."""


def counted(f: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result, and how many functions were called for it: the same in every run."""
    count = 0

    def watch(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        result = f()
    finally:
        sys.setprofile(before)
    return result, count


def calls_of(program: Program, size: int) -> dict[str, float]:
    phases = Phases(counted)
    with function(program, size) as f:
        phases.compile(f, program.arguments(size), build=False)
    return phases.found


def grow_in_proportion(program: Program, size: int) -> None:
    half, whole = calls_of(program, size // 2), calls_of(program, size)
    for phase, calls in whole.items():
        assert calls < GROWTH * 2**program.degree * half[phase] + ALWAYS, phase


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.most < 20], ids=lambda p: p.name)
def test_nests_take_calls_in_proportion_to_the_program(program: Program) -> None:
    grow_in_proportion(program, program.most)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_phases_take_calls_in_proportion_to_the_program(program: Program) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        grow_in_proportion(program, min(program.most, 300))
    finally:
        sys.setrecursionlimit(limit)
