"""Random programs with what users bring: value, derivative and what is left, in several modes."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.programs.breaking import Change
from tests.programs.brought.checking import MODES, check_brought, check_in
from tests.programs.brought.generator import brought_program, brought_statements
from tests.programs.brought.sabotage import BREAKS, program_that_finds
from tests.programs.checking import Finding
from tests.programs.shrinking import shrink
from tests.programs.truth import Untestable

BATCH = 6  # programs of a fast test
SLOW_BATCH = 150
REFUSED = 0.1  # the part of the programs that may meet a documented limit: on average 0.05


def verify(seeds: range, modes: tuple[str, ...] = ()) -> None:
    """Fail with the smallest program found that shows the defect of one of the programs."""
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        program = brought_program(Random(seed), 2 + seed % 3)
        try:
            finding = check_in(list(modes), program) if modes else check_brought(program, seed)
        except Untestable:
            outcomes["untestable"] += 1
            continue
        kind = "right" if finding is None else finding.kind.partition(" ")[0]
        outcomes[kind] += 1
        if finding is not None and kind != "refused":
            pytest.fail(f"seed {seed}\n{smaller(finding)}", pytrace=False)
    assert outcomes["untestable"] < len(seeds) // 2
    assert outcomes["refused"] <= max(2, REFUSED * len(seeds))


def smaller(finding: Finding) -> Finding:
    mode = finding.kind.split()[-1]
    return shrink(finding, 300, lambda program: check_in([mode], program))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("batch", range(6))
def test_programs_with_what_users_bring(batch: int) -> None:
    verify(range(batch * BATCH, (batch + 1) * BATCH))


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(2))
def test_many_programs_with_what_users_bring(batch: int) -> None:
    first = 20_000 + batch * SLOW_BATCH
    verify(range(first, first + SLOW_BATCH))


@pytest.mark.slow
def test_programs_with_what_users_bring_in_every_mode() -> None:
    verify(range(30_000, 30_020), tuple(MODES))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind.__name__ for kind in brought_statements()])
def test_each_kind_of_statement_gives_programs_that_run(kind: str) -> None:
    right = 0
    for seed in range(12):
        try:
            finding = check_in(["gradient"], brought_program(Random(seed), 2, prefer=(kind,)))
        except Untestable:
            continue
        right += finding is None
    assert right > 3


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Change) -> None:
    assert program_that_finds(change, most=200) is not None


def test_break_of_solvers_is_found() -> None:
    name = "evaluations_at_solutions_find_what_the_solver_left"
    assert program_that_finds(BREAKS[name], most=20) is not None
